// Command apiserver is a Kubernetes API server for the tests of `synod observe` and `synod migrate`. It serves custom resources, their
// definitions and the list of API services, by Kubernetes' own published modules, with etcd behind it.
//
// It stands alone: nothing but etcd has to run beside it. Who calls is known by client certificates (--client-ca-file) and a file of
// tokens (--token-auth-file); what they may do is said by roles as they are deployed (--roles). What API services it hands on, and
// where they are, is said by --service, in place of the Services of a cluster.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"

	definitionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	extensionoptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	definitionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	servicesv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	servicesopenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
)

func main() {
	if err := run(server.SetupSignalContext(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

// What the command line says.
type flags struct {
	run     *options.ServerRunOptions
	etcd    *options.EtcdOptions
	serving *options.SecureServingOptionsWithLoopback
	callers callers
	handed  handed
	// The version that definitions are stored in: what changes from one release of an API server to the next.
	definitionsIn string
}

func run(ctx context.Context, words []string) error {
	flags, err := parse(words)
	if err != nil {
		return err
	}
	base, err := flags.base()
	if err != nil {
		return err
	}
	resources, err := flags.extensions(*base).Complete().New(server.NewEmptyDelegate())
	if err != nil {
		return err
	}
	front, err := flags.aggregator(*base).Complete().NewWithDelegate(resources.GenericAPIServer)
	if err != nil {
		return err
	}
	front.GenericAPIServer.AddPostStartHookOrDie("start-extensions-informers", func(hook server.PostStartHookContext) error {
		resources.Informers.Start(hook.Done())
		return nil
	})
	prepared, err := front.PrepareRun()
	if err != nil {
		return err
	}
	return prepared.Run(ctx)
}

func parse(words []string) (*flags, error) {
	storage := storagebackend.NewDefaultConfig("/registry", nil)
	flags := &flags{
		run:     options.NewServerRunOptions(),
		etcd:    options.NewEtcdOptions(storage),
		serving: options.NewSecureServingOptions().WithLoopback(),
	}
	set := pflag.NewFlagSet("apiserver", pflag.ContinueOnError)
	flags.run.AddUniversalFlags(set)
	flags.etcd.AddFlags(set)
	flags.serving.AddFlags(set)
	flags.callers.addFlags(set)
	flags.handed.addFlags(set)
	set.StringVar(&flags.definitionsIn, "definitions-in", "v1", "the version in which definitions are stored: v1beta1 or v1")
	if err := set.Parse(words); err != nil {
		return nil, err
	}
	if err := flags.run.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	return flags, flags.run.Complete()
}

// What both servers have in common.
func (flags *flags) base() (*server.RecommendedConfig, error) {
	config := server.NewRecommendedConfig(extensions.Codecs)
	if err := flags.run.ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	if err := flags.serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, loopback); err != nil {
		return nil, err
	}
	if err := flags.serving.ApplyToConfig(&config.Config); err != nil {
		return nil, err
	}
	if err := flags.callers.applyTo(&config.Config); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config.LoopbackClientConfig)
	if err != nil {
		return nil, err
	}
	// Both want one, and ask it for nothing but services.
	config.SharedInformerFactory = informers.NewSharedInformerFactory(client, 0)
	return config, flags.handed.showIn(config.SharedInformerFactory)
}

// Custom resources and their definitions.
func (flags *flags) extensions(config server.RecommendedConfig) *extensions.Config {
	versions := []schema.GroupVersion{definitionsv1.SchemeGroupVersion, definitionsv1beta1.SchemeGroupVersion}
	if flags.definitionsIn == "v1beta1" {
		versions[0], versions[1] = versions[1], versions[0]
	}
	etcd := flags.store(&config, extensions.Codecs.LegacyCodec(versions...), versions[0])
	config.MergedResourceConfig = extensions.DefaultAPIResourceConfigSource()
	config.OpenAPIV3Config = server.DefaultOpenAPIV3Config(definitionsopenapi.GetOpenAPIDefinitions,
		openapinamer.NewDefinitionNamer(extensions.Scheme))
	return &extensions.Config{
		GenericConfig: &config,
		ExtraConfig: extensions.ExtraConfig{
			CRDRESTOptionsGetter: extensionoptions.NewCRDRESTOptionsGetter(etcd, config.ResourceTransformers, config.StorageObjectCountTracker),
			MasterCount:          1,
			ServiceResolver:      webhook.NewDefaultServiceResolver(),
			AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, config.LoopbackClientConfig, config.TracerProvider),
		},
	}
}

// The list of API services, by which discovery shows all groups.
func (flags *flags) aggregator(config server.RecommendedConfig) *aggregator.Config {
	version := servicesv1.SchemeGroupVersion
	flags.store(&config, aggregatorscheme.Codecs.LegacyCodec(version), version)
	config.MergedResourceConfig = aggregator.DefaultAPIResourceConfigSource()
	config.OpenAPIV3Config = server.DefaultOpenAPIV3Config(servicesopenapi.GetOpenAPIDefinitions,
		openapinamer.NewDefinitionNamer(aggregatorscheme.Scheme))
	config.SkipOpenAPIInstallation = true
	return &aggregator.Config{
		GenericConfig: &config,
		ExtraConfig: aggregator.ExtraConfig{
			ServiceResolver:     &flags.handed,
			ProxyClientCertFile: flags.handed.certFile,
			ProxyClientKeyFile:  flags.handed.keyFile,
		},
	}
}

// Lets a server of its own keep what it serves in etcd, in this version.
func (flags *flags) store(config *server.RecommendedConfig, codec runtime.Codec, version schema.GroupVersion) options.EtcdOptions {
	etcd := *flags.etcd
	etcd.SkipHealthEndpoints = true
	etcd.StorageConfig.Codec = codec
	etcd.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(version, schema.GroupKind{Group: version.Group})
	etcd.StorageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	// A copy was given: what the other server starts is none of this one's.
	config.PostStartHooks = map[string]server.PostStartHookConfigEntry{}
	config.RESTOptionsGetter = etcd.CreateRESTOptionsGetter(&options.SimpleStorageFactory{StorageConfig: etcd.StorageConfig}, nil)
	return etcd
}
