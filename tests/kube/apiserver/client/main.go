// Command client works on the Kubernetes API of Synod as controllers do, by an unmodified client-go: informers, server-side apply by
// the dynamic client, leases and leader election by a typed client that speaks protobuf as it does without being told, and an access
// review.
//
// Its argument is the address of a replica that has the namespaced collection widgets.example.io and keeps 1,000 revisions. With the
// files of a CA, a certificate and its key behind it, it connects over TLS, where HTTP/2 must be agreed on, and leaves the widgets out.
// It prints each step that it has done, and ends with 1 at the first that fails. With "informers" before all that it runs many
// informers at once: see manyInformers.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// namespace is where everything is done.
const namespace = "clients"

// patience is the longest time that a step takes.
const patience = 30 * time.Second

var widgets = schema.GroupVersionResource{Group: "example.io", Version: "v1", Resource: "widgets"}

// step is something that the client does.
type step struct {
	name string
	run  func(context.Context, *rest.Config) error
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "informers" {
		if err := manyInformers(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	config := &rest.Config{UserAgent: "synod-client-go/v1"}
	steps := []step{{"leases", leases}, {"election", election}, {"review", review}}
	switch len(os.Args) {
	case 2:
		steps = append([]step{{"informer", informer}, {"resync", resync}, {"expired", expired}, {"apply", apply}, {"many", many}}, steps...)
	case 5:
		config.TLSClientConfig = rest.TLSClientConfig{CAFile: os.Args[2], CertFile: os.Args[3], KeyFile: os.Args[4]}
	default:
		fmt.Fprintln(os.Stderr, "usage: client ADDRESS [CA CERTIFICATE KEY]")
		os.Exit(2)
	}
	config.Host = os.Args[1]
	for _, step := range steps {
		within, cancel := context.WithTimeout(context.Background(), patience)
		err := step.run(within, config)
		cancel()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", step.name, err)
			os.Exit(1)
		}
		fmt.Printf("%s: ok\n", step.name)
	}
}

// widget is the configuration of a widget of this size.
func widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.io/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name, "namespace": namespace},
		"spec":       map[string]any{"size": size},
	}}
}

func sizeOf(object any) int64 {
	size, _, _ := unstructured.NestedInt64(object.(*unstructured.Unstructured).Object, "spec", "size")
	return size
}

// informer sees what is created, changed and deleted while it runs, and what was there before.
func informer(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := client.Resource(widgets).Namespace(namespace)
	if _, err := objects.Create(ctx, widget("before", 1), metav1.CreateOptions{}); err != nil {
		return err
	}
	told := make(chan string, 16)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	shared := factory.ForResource(widgets).Informer()
	_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { told <- fmt.Sprintf("added %d", sizeOf(object)) },
		UpdateFunc: func(_, object any) { told <- fmt.Sprintf("updated %d", sizeOf(object)) },
		DeleteFunc: func(object any) { told <- "deleted" },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), shared.HasSynced) {
		return fmt.Errorf("the cache has not synced")
	}
	expect := func(wanted string) error { return hears(ctx, told, wanted) }
	if err := expect("added 1"); err != nil {
		return err
	}
	if _, err := objects.Create(ctx, widget("after", 2), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := expect("added 2"); err != nil {
		return err
	}
	changed, err := objects.Get(ctx, "after", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(changed.Object, int64(3), "spec", "size"); err != nil {
		return err
	}
	if _, err := objects.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect("updated 3"); err != nil {
		return err
	}
	// What was read before is too old to be written.
	if _, err := objects.Update(ctx, changed, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		return fmt.Errorf("an update on an old revision is no conflict: %v", err)
	}
	if err := objects.Delete(ctx, "after", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return expect("deleted")
}

// apply takes a field from another manager only by force.
func apply(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := client.Resource(widgets).Namespace(namespace)
	if _, err := objects.Apply(ctx, "applied", widget("applied", 1), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err = objects.Apply(ctx, "applied", widget("applied", 2), metav1.ApplyOptions{FieldManager: "two"})
	if !errors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one": .spec.size`) {
		return fmt.Errorf("another manager was not asked: %v", err)
	}
	if !errors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		return fmt.Errorf("the conflict has no cause: %v", err)
	}
	forced := metav1.ApplyOptions{FieldManager: "two", Force: true}
	applied, err := objects.Apply(ctx, "applied", widget("applied", 2), forced)
	if err != nil {
		return err
	}
	if size := sizeOf(applied); size != 2 {
		return fmt.Errorf("the size is %d", size)
	}
	patch := []byte(`{"metadata":{"labels":{"kept":"yes"}}}`)
	_, err = objects.Patch(ctx, "applied", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "three"})
	if err != nil {
		return err
	}
	applied, err = objects.Apply(ctx, "applied", widget("applied", 3), forced)
	if err != nil {
		return err
	}
	if applied.GetLabels()["kept"] != "yes" {
		return fmt.Errorf("what another manages is gone: %v", applied.GetLabels())
	}
	return nil
}

// many deletes a collection.
func many(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := client.Resource(widgets).Namespace(namespace)
	if err := objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	left, err := objects.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(left.Items) != 0 {
		return fmt.Errorf("%d are left", len(left.Items))
	}
	return nil
}

// heard counts the answers that came in each form.
type heard struct {
	inner http.RoundTripper
	lock  sync.Mutex
	forms map[string]int
}

func (h *heard) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := h.inner.RoundTrip(request)
	if err == nil {
		h.lock.Lock()
		defer h.lock.Unlock()
		h.forms[answer.Proto+" "+answer.Header.Get("Content-Type")]++
	}
	return answer, err
}

// leases are written, read and watched in protobuf by a clientset of which nobody asked that.
func leases(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	counted := &heard{forms: map[string]int{}}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		counted.inner = inner
		return counted
	})
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	holder, seconds := "one", int32(60)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "typed"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds},
	}
	ours := clients.CoordinationV1().Leases(namespace)
	if _, err := ours.Create(ctx, lease, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := ours.Create(ctx, lease, metav1.CreateOptions{}); !errors.IsAlreadyExists(err) {
		return fmt.Errorf("it is created twice: %v", err)
	}
	if _, err := ours.Get(ctx, "nobody", metav1.GetOptions{}); !errors.IsNotFound(err) {
		return fmt.Errorf("what is not there is found: %v", err)
	}
	told := make(chan string, 16)
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	shared := factory.Coordination().V1().Leases().Informer()
	tell := func(object any) {
		lease := object.(*coordinationv1.Lease)
		held := "nobody"
		if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
			held = *lease.Spec.HolderIdentity
		}
		told <- lease.Name + " " + held
	}
	_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    tell,
		UpdateFunc: func(_, object any) { tell(object) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	expect := func(wanted string) error { return hears(ctx, told, wanted) }
	if err := expect("typed one"); err != nil {
		return err
	}
	read, err := ours.Get(ctx, "typed", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if read.Spec.RenewTime == nil || time.Since(read.Spec.RenewTime.Time) > patience || *read.Spec.LeaseDurationSeconds != 60 {
		return fmt.Errorf("it was read as %v", read.Spec)
	}
	read.Spec.HolderIdentity = nil
	if _, err := ours.Update(ctx, read, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect("typed nobody"); err != nil {
		return err
	}
	list, err := ours.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) != 1 || list.ResourceVersion == "" {
		return fmt.Errorf("the list has %d leases at %q", len(list.Items), list.ResourceVersion)
	}
	proto := "HTTP/1.1"
	if config.TLSClientConfig.CAFile != "" {
		proto = "HTTP/2.0"
	}
	counted.lock.Lock()
	defer counted.lock.Unlock()
	for _, form := range []string{"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"} {
		form = proto + " " + form
		if counted.forms[form] == 0 {
			return fmt.Errorf("no answer is %s: %v", form, counted.forms)
		}
		delete(counted.forms, form)
	}
	if len(counted.forms) != 0 {
		return fmt.Errorf("there are other answers: %v", counted.forms)
	}
	return nil
}

// election is won by one of two candidates, and by the other when that one lets go.
func election(ctx context.Context, config *rest.Config) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	began := make(chan string, 2)
	stand := func(ctx context.Context, identity string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "election"},
				Client:     clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			},
			ReleaseOnCancel: true,
			LeaseDuration:   6 * time.Second,
			RenewDeadline:   4 * time.Second,
			RetryPeriod:     500 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { began <- identity },
				OnStoppedLeading: func() {},
			},
		})
	}
	first, letGo := context.WithCancel(ctx)
	defer letGo()
	go stand(first, "one")
	if err := leads(ctx, began, "one"); err != nil {
		return err
	}
	go stand(ctx, "two")
	// The one keeps it while it renews.
	select {
	case identity := <-began:
		return fmt.Errorf("%s leads, too", identity)
	case <-time.After(8 * time.Second):
	}
	letGo()
	return leads(ctx, began, "two")
}

func leads(ctx context.Context, began <-chan string, wanted string) error {
	select {
	case identity := <-began:
		if identity != wanted {
			return fmt.Errorf("%s leads in place of %s", identity, wanted)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s never leads", wanted)
	}
}

// review asks whether this client may do something.
func review(ctx context.Context, config *rest.Config) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	asked := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: "coordination.k8s.io", Resource: "leases"},
	}}
	reviews := clients.AuthorizationV1().SelfSubjectAccessReviews()
	answer, err := reviews.Create(ctx, asked, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if !answer.Status.Allowed {
		return fmt.Errorf("it may not: %s", answer.Status.Reason)
	}
	return nil
}
