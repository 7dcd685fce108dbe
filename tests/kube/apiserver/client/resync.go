package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// resyncs is how many times an informer has to say again what has not changed.
const resyncs = 2

// changes are more than the replica keeps: a watch that goes on behind them has expired.
const changes = 1_100

// resync says again, in the period of the handler, what the cache holds, though nothing has changed and nothing is asked.
func resync(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := client.Resource(widgets).Namespace(namespace)
	made, err := objects.Create(ctx, widget("resynced", 1), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	told := make(chan error, 16)
	shared := dynamicinformer.NewFilteredDynamicInformer(client, widgets, namespace, time.Second, cache.Indexers{}, nil).Informer()
	_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, object any) {
		former, same := before.(*unstructured.Unstructured), object.(*unstructured.Unstructured)
		if same.GetName() != made.GetName() {
			return
		}
		if former.GetResourceVersion() != same.GetResourceVersion() || same.GetResourceVersion() != made.GetResourceVersion() {
			told <- fmt.Errorf("it was at %s, and is at %s", former.GetResourceVersion(), same.GetResourceVersion())
		}
		told <- nil
	}})
	if err != nil {
		return err
	}
	go shared.RunWithContext(ctx)
	for range resyncs {
		select {
		case fault := <-told:
			if fault != nil {
				return fault
			}
		case <-ctx.Done():
			return fmt.Errorf("nothing was said again")
		}
	}
	return objects.Delete(ctx, "resynced", metav1.DeleteOptions{})
}

// cuts is a transport that cuts watches off, and lets no other begin, while it is closed.
type cuts struct {
	inner http.RoundTripper
	lock  sync.Mutex
	// open is closed when watches may begin.
	open    chan struct{}
	watches []io.Closer
	lists   int
}

// watched is the body of a watch that ends well when it is cut: after an error client-go would list all in any case.
type watched struct{ io.ReadCloser }

func (w *watched) Read(bytes []byte) (int, error) {
	read, err := w.ReadCloser.Read(bytes)
	if err != nil {
		err = io.EOF
	}
	return read, err
}

func (c *cuts) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("watch") != "true" {
		c.lock.Lock()
		c.lists++
		c.lock.Unlock()
		return c.inner.RoundTrip(request)
	}
	c.lock.Lock()
	open := c.open
	if query.Get("sendInitialEvents") == "true" {
		c.lists++
	}
	c.lock.Unlock()
	select {
	case <-open:
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	answer, err := c.inner.RoundTrip(request)
	if err == nil {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.watches = append(c.watches, answer.Body)
		answer.Body = &watched{answer.Body}
	}
	return answer, err
}

// cut ends all watches, and lets none begin.
func (c *cuts) cut() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.open = make(chan struct{})
	for _, watch := range c.watches {
		watch.Close()
	}
	c.watches = nil
}

// mend lets watches begin.
func (c *cuts) mend() {
	c.lock.Lock()
	defer c.lock.Unlock()
	close(c.open)
}

func (c *cuts) listed() int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.lists
}

// expired goes on by a list when what it has missed is not kept any more, and tells what has come of it all.
func expired(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := client.Resource(widgets).Namespace(namespace)
	for _, name := range []string{"changed", "gone"} {
		if _, err := objects.Create(ctx, widget(name, 0), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	open := make(chan struct{})
	close(open)
	road := &cuts{open: open}
	behind := rest.CopyConfig(config)
	behind.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		road.inner = inner
		return road
	})
	watching, err := dynamic.NewForConfig(behind)
	if err != nil {
		return err
	}
	told := make(chan string, 16)
	shared := dynamicinformer.NewFilteredDynamicInformer(watching, widgets, namespace, 0, cache.Indexers{}, nil).Informer()
	_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, object any) {
			// After a list all are told of, those that are as they were, too.
			former, changed := before.(*unstructured.Unstructured), object.(*unstructured.Unstructured)
			if former.GetResourceVersion() != changed.GetResourceVersion() {
				told <- fmt.Sprintf("updated %d", sizeOf(changed))
			}
		},
		DeleteFunc: func(object any) {
			unknown, is := object.(cache.DeletedFinalStateUnknown)
			told <- fmt.Sprintf("deleted %t %s", is, unknown.Key)
		},
	})
	if err != nil {
		return err
	}
	go shared.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), shared.HasSynced) {
		return fmt.Errorf("the cache has not synced")
	}
	// The watch is there when the first change is told.
	if err := resize(ctx, objects, 1); err != nil {
		return err
	}
	if err := hears(ctx, told, "updated 1"); err != nil {
		return err
	}
	lists := road.listed()
	road.cut()
	if err := objects.Delete(ctx, "gone", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for size := int64(2); size < changes; size++ {
		if err := resize(ctx, objects, size); err != nil {
			return err
		}
	}
	road.mend()
	// One after the other in either order: the list tells no times.
	wanted := map[string]bool{fmt.Sprintf("updated %d", changes-1): true, "deleted true " + namespace + "/gone": true}
	for range len(wanted) {
		select {
		case heard := <-told:
			if !wanted[heard] {
				return fmt.Errorf("heard %q", heard)
			}
			delete(wanted, heard)
		case <-ctx.Done():
			return fmt.Errorf("never heard all of %v", wanted)
		}
	}
	if road.listed() == lists {
		return fmt.Errorf("nothing was listed again")
	}
	return objects.Delete(ctx, "changed", metav1.DeleteOptions{})
}

func hears(ctx context.Context, told <-chan string, wanted string) error {
	select {
	case heard := <-told:
		if heard != wanted {
			return fmt.Errorf("heard %q in place of %q", heard, wanted)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("never heard %q", wanted)
	}
}

func resize(ctx context.Context, objects dynamic.ResourceInterface, size int64) error {
	object, err := objects.Get(ctx, "changed", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(object.Object, size, "spec", "size"); err != nil {
		return err
	}
	_, err = objects.Update(ctx, object, metav1.UpdateOptions{})
	return err
}
