package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// What is handed on to other servers: where their services are, and the certificate by which those believe who calls.
type handed struct {
	certFile, keyFile string
	services          []string
}

func (handed *handed) addFlags(set *pflag.FlagSet) {
	set.StringVar(&handed.certFile, "proxy-client-cert-file", "", "the certificate to show to the servers of API services")
	set.StringVar(&handed.keyFile, "proxy-client-key-file", "", "its key")
	set.StringArrayVar(&handed.services, "service", nil, "a service and where it is: namespace/name:port=host:port")
}

// A service, and where it is.
type service struct {
	namespace, name string
	port            int32
	host            string
	at              int32
}

func parseService(text string) (*service, error) {
	name, address, _ := strings.Cut(text, "=")
	namespace, rest, _ := strings.Cut(name, "/")
	name, port, err := hostPort(rest)
	if err != nil {
		return nil, fmt.Errorf("--service %s: %w", text, err)
	}
	host, at, err := hostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--service %s: %w", text, err)
	}
	return &service{namespace, name, port, host, at}, nil
}

func hostPort(text string) (string, int32, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return host, int32(number), err
}

func (handed *handed) all() ([]*service, error) {
	var all []*service
	for _, text := range handed.services {
		one, err := parseService(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ResolveEndpoint says where a service is.
func (handed *handed) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	all, err := handed.all()
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.namespace == namespace && one.name == name && one.port == port {
			return &url.URL{Scheme: "https", Host: net.JoinHostPort(one.host, strconv.Itoa(int(one.at)))}, nil
		}
	}
	return nil, fmt.Errorf("no --service is %s/%s:%d", namespace, name, port)
}

// Shows the services, and that each has an endpoint, where Kubernetes' controllers look for them.
func (handed *handed) showIn(factory informers.SharedInformerFactory) error {
	all, err := handed.all()
	if err != nil {
		return err
	}
	services, slices := &corev1.ServiceList{}, &discoveryv1.EndpointSliceList{}
	for _, one := range all {
		services.Items = append(services.Items, one.service())
		slices.Items = append(slices.Items, one.slice())
	}
	show(factory, &corev1.Service{}, services)
	show(factory, &discoveryv1.EndpointSlice{}, slices)
	return nil
}

func (one *service) service() corev1.Service {
	return corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: one.namespace, Name: one.name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Ports: []corev1.ServicePort{{Port: one.port}}},
	}
}

func (one *service) slice() discoveryv1.EndpointSlice {
	unnamed := ""
	return discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: one.namespace,
			Name:      one.name,
			Labels:    map[string]string{discoveryv1.LabelServiceName: one.name},
		},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{one.host}}},
		Ports:     []discoveryv1.EndpointPort{{Name: &unnamed, Port: &one.at}},
	}
}

// Has an informer hold this list, of which nothing changes.
func show(factory informers.SharedInformerFactory, of runtime.Object, list runtime.Object) {
	static := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return list, nil },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return watch.NewFake(), nil
		},
	}
	factory.InformerFor(of, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(static, unstreamed{}), of, resync, indexers)
	})
}

// unstreamed says of a list that it is not told by a watch.
type unstreamed struct{}

func (unstreamed) IsWatchListSemanticsUnSupported() bool { return true }
