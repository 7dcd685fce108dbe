package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var items = schema.GroupVersionResource{Group: "example.io", Version: "v1", Resource: "items"}

const (
	// atOnce is how many informers begin at the same time.
	atOnce = 10
	// syncing is the longest time until those have their caches.
	syncing = 5 * time.Minute
	// pace is the time between two writes.
	pace = 20 * time.Millisecond
	// told is after how many writes it is told how many there were.
	told = 20
	// catchingUp is the longest time until all caches are what the list is.
	catchingUp = 2 * time.Minute
)

// informed is what one informer has told, and how it asked.
type informed struct {
	informer cache.SharedIndexInformer
	// lists counts the requests for all that there is. The first one is how it begins.
	lists   atomic.Int64
	watches atomic.Int64

	lock sync.Mutex
	// last is the revision of the last event of each object that there is.
	last map[string]uint64
	// revisions are those of all events since writes began, as they were told.
	revisions []uint64
	records   bool
	faults    []string
}

// manyInformers runs so many informers over all items, on three replicas as behind a balancer of connections, while a writer of its own
// changes items. It tells "synced" when all caches are filled, "wrote N" as it goes on, and after a line on its standard input checks
// what all informers have seen.
//
// Its arguments are the number of informers and the addresses of the replicas.
func manyInformers(arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("usage: client informers COUNT ADDRESS...")
	}
	count, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	addresses := arguments[1:]
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := make([]*informed, count)
	for number := range all {
		if all[number], err = begun(ctx, addresses, number); err != nil {
			return err
		}
		if number%atOnce == atOnce-1 || number == count-1 {
			if err := synced(ctx, all[:number+1]); err != nil {
				return err
			}
		}
	}
	for _, one := range all {
		one.lock.Lock()
		one.records = true
		one.lock.Unlock()
	}
	fmt.Println("synced")
	ended := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		close(ended)
	}()
	config := &rest.Config{Host: "http://replicas", UserAgent: "synod-writer/v1", QPS: -1, Dial: dialing(addresses, 0)}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := client.Resource(items)
	acknowledged, err := write(ctx, objects, ended)
	if err != nil {
		return err
	}
	return check(ctx, objects, all, acknowledged)
}

// dialing connects to the replica of this number, or to the next one that is there.
func dialing(addresses []string, first int) func(context.Context, string, string) (net.Conn, error) {
	var next atomic.Int64
	next.Store(int64(first))
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var fault error
		for range addresses {
			at := next.Load()
			dialer := net.Dialer{Timeout: 5 * time.Second}
			connection, err := dialer.DialContext(ctx, network, addresses[int(at)%len(addresses)])
			if err == nil {
				return connection, nil
			}
			fault = err
			next.CompareAndSwap(at, at+1)
		}
		return nil, fault
	}
}

// counting is a transport that counts what is asked.
type counting struct {
	inner http.RoundTripper
	of    *informed
}

func (c *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	isWatch := query.Get("watch") == "true" || query.Get("watch") == "1"
	if isWatch {
		c.of.watches.Add(1)
	}
	// The pages of a list are one.
	if (!isWatch && query.Get("continue") == "") || query.Get("sendInitialEvents") == "true" {
		c.of.lists.Add(1)
	}
	return c.inner.RoundTrip(request)
}

func begun(ctx context.Context, addresses []string, number int) (*informed, error) {
	one := &informed{last: map[string]uint64{}}
	config := &rest.Config{Host: "http://replicas", UserAgent: "synod-informer/v1", Dial: dialing(addresses, number)}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &counting{inner: inner, of: one} })
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	one.informer = dynamicinformer.NewFilteredDynamicInformer(client, items, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	// Two million objects as they come would not fit into the memory of a machine.
	if err := one.informer.SetTransform(small); err != nil {
		return nil, err
	}
	_, err = one.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: one.added, UpdateFunc: one.updated, DeleteFunc: one.deleted})
	if err != nil {
		return nil, err
	}
	go one.informer.RunWithContext(ctx)
	return one, nil
}

// small keeps of an object its name and revision.
func small(object any) (any, error) {
	whole, is := object.(*unstructured.Unstructured)
	if !is {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name:            strings.Clone(whole.GetName()),
		ResourceVersion: strings.Clone(whole.GetResourceVersion()),
	}}, nil
}

func synced(ctx context.Context, all []*informed) error {
	within, cancel := context.WithTimeout(ctx, syncing)
	defer cancel()
	for number, one := range all {
		if !cache.WaitForCacheSync(within.Done(), one.informer.HasSynced) {
			return fmt.Errorf("the cache of informer %d has not synced", number)
		}
	}
	return nil
}

func revisionOf(object any) (string, uint64, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", 0, err
	}
	revision, err := strconv.ParseUint(accessor.GetResourceVersion(), 10, 64)
	return accessor.GetName(), revision, err
}

// fault notes what must not be; the first few are enough.
func (one *informed) fault(format string, arguments ...any) {
	if len(one.faults) < 5 {
		one.faults = append(one.faults, fmt.Sprintf(format, arguments...))
	}
}

func (one *informed) saw(revision uint64) {
	if one.records {
		one.revisions = append(one.revisions, revision)
	}
}

func (one *informed) added(object any) {
	name, revision, err := revisionOf(object)
	one.lock.Lock()
	defer one.lock.Unlock()
	if last, there := one.last[name]; there || err != nil {
		one.fault("%s was added at %d, and was there at %d: %v", name, revision, last, err)
	}
	one.last[name] = revision
	one.saw(revision)
}

func (one *informed) updated(before, object any) {
	_, former, _ := revisionOf(before)
	name, revision, err := revisionOf(object)
	one.lock.Lock()
	defer one.lock.Unlock()
	last, there := one.last[name]
	if !there || last != former || revision <= last || err != nil {
		one.fault("%s was changed from %d to %d, and was seen at %d: %v", name, former, revision, last, err)
	}
	one.last[name] = revision
	one.saw(revision)
}

func (one *informed) deleted(object any) {
	one.lock.Lock()
	defer one.lock.Unlock()
	// A list has told that it is gone, and not when that was.
	if unknown, is := object.(cache.DeletedFinalStateUnknown); is {
		delete(one.last, unknown.Key)
		return
	}
	name, revision, err := revisionOf(object)
	last, there := one.last[name]
	if !there || revision <= last || err != nil {
		one.fault("%s was deleted at %d, and was seen at %d: %v", name, revision, last, err)
	}
	delete(one.last, name)
	one.saw(revision)
}

// write changes, creates and deletes items in turn until it is ended. It returns the revisions of which it was told, but those of
// deletions, whose answers tell none.
func write(ctx context.Context, objects dynamic.ResourceInterface, ended <-chan struct{}) ([]uint64, error) {
	var acknowledged []uint64
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var extra []string
	for turn := 0; ; turn++ {
		select {
		case <-ended:
			return acknowledged, nil
		case <-ticker.C:
		}
		var written *unstructured.Unstructured
		var err error
		switch turn % 4 {
		case 0, 2:
			// A size that it has never had, or nothing would be changed.
			written, err = rewrite(ctx, objects, fmt.Sprintf("item-%06d", turn*7%500), int64(turn+1))
		case 1:
			name := fmt.Sprintf("item-%06d-%d", turn*13%500, turn)
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.io/v1", "kind": "Item",
				"metadata": map[string]any{"name": name},
				"spec":     map[string]any{"size": int64(turn)},
			}}
			written, err = objects.Create(ctx, object, metav1.CreateOptions{})
			extra = append(extra, name)
		case 3:
			// Each other one stays.
			if len(extra) > 1 {
				err = objects.Delete(ctx, extra[0], metav1.DeleteOptions{})
				extra = extra[2:]
			}
		}
		if err != nil && !isOfADeath(err) {
			return nil, fmt.Errorf("write %d: %w", turn, err)
		}
		if err == nil && written != nil {
			_, revision, err := revisionOf(written)
			if err != nil {
				return nil, err
			}
			acknowledged = append(acknowledged, revision)
		}
		if turn%told == told-1 {
			fmt.Printf("wrote %d\n", turn+1)
		}
	}
}

func rewrite(ctx context.Context, objects dynamic.ResourceInterface, name string, size int64) (*unstructured.Unstructured, error) {
	object, err := objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(object.Object, size, "spec", "size"); err != nil {
		return nil, err
	}
	return objects.Update(ctx, object, metav1.UpdateOptions{})
}

// isOfADeath is whether a write may fail so while a leader dies: it was not answered, or may have been carried out, and by a second
// try of the client, too.
func isOfADeath(err error) bool {
	if errors.ReasonForError(err) == metav1.StatusReasonUnknown {
		return true
	}
	return errors.IsServiceUnavailable(err) || errors.IsTimeout(err) || errors.IsTooManyRequests(err) ||
		errors.IsAlreadyExists(err) || errors.IsNotFound(err) || errors.IsConflict(err)
}

// check compares what all informers have seen with each other, with what was acknowledged, and with a list.
func check(ctx context.Context, objects dynamic.ResourceInterface, all []*informed, acknowledged []uint64) error {
	listed := map[string]uint64{}
	options := metav1.ListOptions{Limit: 500}
	for {
		page, err := objects.List(ctx, options)
		if err != nil {
			return err
		}
		for index := range page.Items {
			name, revision, err := revisionOf(&page.Items[index])
			if err != nil {
				return err
			}
			listed[name] = revision
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	deadline := time.Now().Add(catchingUp)
	for number, one := range all {
		for fault := one.differs(listed); fault != nil; fault = one.differs(listed) {
			if time.Now().After(deadline) {
				return fmt.Errorf("informer %d: %w", number, fault)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	var whole []uint64
	steady, watches := 0, int64(0)
	for number, one := range all {
		one.lock.Lock()
		defer one.lock.Unlock()
		if len(one.faults) > 0 {
			return fmt.Errorf("informer %d: %s", number, strings.Join(one.faults, "; "))
		}
		watches += one.watches.Load()
		// Who lists again may miss what was changed twice meanwhile.
		if one.lists.Load() > 1 {
			continue
		}
		steady++
		if !slices.IsSorted(one.revisions) {
			return fmt.Errorf("informer %d was told of %v", number, one.revisions)
		}
		if whole == nil {
			whole = one.revisions
		}
		if !slices.Equal(one.revisions, whole) {
			return fmt.Errorf("informer %d was told of %d changes, another one of %d: %v %v", number, len(one.revisions), len(whole), one.revisions, whole)
		}
	}
	for _, revision := range acknowledged {
		if _, there := slices.BinarySearch(whole, revision); !there {
			return fmt.Errorf("nobody was told of the change at %d", revision)
		}
	}
	fmt.Printf("checked %d objects in %d caches: %d changes were told, %d of %d informers never listed again, %d watches\n",
		len(listed), len(all), len(whole), steady, len(all), watches)
	if steady*2 < len(all) {
		return fmt.Errorf("most informers have listed again")
	}
	return nil
}

// differs says how the cache is not what was listed.
func (one *informed) differs(listed map[string]uint64) error {
	cached := one.informer.GetStore().List()
	if len(cached) != len(listed) {
		return fmt.Errorf("it has %d objects, and there are %d", len(cached), len(listed))
	}
	for _, object := range cached {
		name, revision, err := revisionOf(object)
		if err != nil || listed[name] != revision {
			return fmt.Errorf("it has %s at %d, which is at %d: %v", name, revision, listed[name], err)
		}
	}
	// What it has told of is the same, a moment later.
	one.lock.Lock()
	defer one.lock.Unlock()
	if len(one.last) != len(listed) {
		return fmt.Errorf("it has told of %d objects, and there are %d", len(one.last), len(listed))
	}
	for name, revision := range one.last {
		if listed[name] != revision {
			return fmt.Errorf("it has told of %s at %d, which is at %d", name, revision, listed[name])
		}
	}
	return nil
}
