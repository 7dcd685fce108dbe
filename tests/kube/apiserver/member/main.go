// Command member takes part as an API server of Kubernetes does, by Kubernetes' own parts, unmodified: the controller of its identity
// lease, the updater of StorageVersions, and leader election. Before each is the code by which kube-apiserver calls it.
//
//	member ADDRESS HOST ENCODING
//
// ADDRESS is that of a replica. HOST is the name of the machine, from which the name of the server follows. ENCODING is the version
// in which it stores widgets.example.io: v1 or v2; it decodes both. It prints "joined", "reported" and "leading" as it gets there,
// and leaves when it is interrupted.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/cryptobyte"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/storageversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/utils/clock"
)

// What kube-apiserver has as a setting of an hour, ten seconds and ten minutes. A test does not wait as long.
const (
	leaseSeconds = 4
	renewEvery   = time.Second
	reportEvery  = 2 * time.Second
)

const group = "example.io"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: member ADDRESS HOST ENCODING")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "member:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, host, encoding string) error {
	config := &rest.Config{Host: address, UserAgent: "member/v1"}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	id, err := serverID(host)
	if err != nil {
		return err
	}
	// k8s.io/kubernetes/pkg/controlplane/apiserver, hook start-kube-apiserver-identity-lease-controller.
	holder := id + "_" + string(uuid.NewUUID())
	identity := lease.NewController(clock.RealClock{}, client, holder, leaseSeconds, nil, renewEvery, id, metav1.NamespaceSystem,
		func(own *coordinationv1.Lease) error {
			if own.Labels == nil {
				own.Labels = map[string]string{}
			}
			own.Labels["apiserver.kubernetes.io/identity"] = "kube-apiserver"
			own.Labels["kubernetes.io/hostname"] = host
			return nil
		})
	if err := identity.Start(ctx.Done()); err != nil {
		return err
	}
	defer identity.Stop()
	// The same, hook built-in-resources-storage-version-updater of kube-aggregator: it waits for the lease.
	if err := present(ctx, client, id); err != nil {
		return err
	}
	fmt.Println("joined")
	manager := storageversion.NewDefaultManager()
	manager.AddResourceInfo(widgets(encoding))
	go report(ctx, manager, config, id)
	return lead(ctx, client, holder)
}

// serverID is the name that kube-apiserver has on a host: generateServerID of k8s.io/kubernetes/pkg/controlplane/apiserver.
func serverID(host string) (string, error) {
	var builder cryptobyte.Builder
	builder.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(host)) })
	builder.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte("kube-apiserver")) })
	data, err := builder.Bytes()
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(data)
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(hash[:16])), nil
}

// present waits until the identity lease is there.
func present(ctx context.Context, client kubernetes.Interface, id string) error {
	for {
		_, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, id, metav1.GetOptions{})
		if err == nil || !errors.IsNotFound(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// widgets says how this server stores them.
func widgets(encoding string) *storageversion.ResourceInfo {
	resource := schema.GroupResource{Group: group, Resource: "widgets"}
	mapper := runtime.NewEquivalentResourceRegistry()
	info := &storageversion.ResourceInfo{
		GroupResource:            resource,
		EncodingVersion:          group + "/" + encoding,
		EquivalentResourceMapper: mapper,
	}
	for _, version := range []string{"v1", "v2"} {
		of := schema.GroupVersion{Group: group, Version: version}
		mapper.RegisterKindFor(of.WithResource(resource.Resource), "", of.WithKind("Widget"))
		info.DirectlyDecodableVersions = append(info.DirectlyDecodableVersions, of)
		info.ServedVersions = append(info.ServedVersions, of.String())
	}
	return info
}

// report updates the StorageVersions as the same hook does, again and again: what is the same moves nothing.
func report(ctx context.Context, manager storageversion.Manager, config *rest.Config, id string) {
	for has := false; ; {
		manager.UpdateStorageVersions(config, id)
		if manager.Completed() && !has {
			has = true
			fmt.Println("reported")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(reportEvery):
		}
	}
}

// lead stands for the leadership of the controllers until it is interrupted.
func lead(ctx context.Context, client kubernetes.Interface, holder string) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "controllers"},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: holder},
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   4 * time.Second,
		RenewDeadline:   3 * time.Second,
		RetryPeriod:     500 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leading") },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		elector.Run(ctx)
	}
	return nil
}
