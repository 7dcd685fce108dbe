package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Who may call, and what each may do.
type callers struct {
	caFile, tokenFile string
	roles             []string
}

func (callers *callers) addFlags(set *pflag.FlagSet) {
	set.StringVar(&callers.caFile, "client-ca-file", "", "the CA whose certificates name callers")
	set.StringVar(&callers.tokenFile, "token-auth-file", "", "the file with tokens: token,user,uid,\"group,...\"")
	set.StringSliceVar(&callers.roles, "roles", nil, "manifests with roles and bindings; who is in system:masters may do everything")
}

func (callers *callers) applyTo(config *server.Config) error {
	var known []authenticator.Request
	if callers.caFile != "" {
		ca, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", callers.caFile)
		if err != nil {
			return err
		}
		if err := config.Authentication.ApplyClientCert(ca, config.SecureServing); err != nil {
			return err
		}
		known = append(known, x509.NewDynamic(ca.VerifyOptions, x509.CommonNameUserConversion))
	}
	if callers.tokenFile != "" {
		known = append(known, bearertoken.New(tokens(callers.tokenFile)))
	}
	config.Authentication.Authenticator = group.NewAuthenticatedGroupAdder(union.New(known...))
	granted, err := read(callers.roles)
	if err != nil {
		return err
	}
	config.Authorization.Authorizer = authorizer.AuthorizerFunc(granted.decide)
	return nil
}

// A file of tokens that is read for each request: a token counts from when it is written there until it is taken out.
type tokens string

func (path tokens) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	file, err := tokenfile.NewCSV(string(path))
	if err != nil {
		return nil, false, err
	}
	return file.AuthenticateToken(ctx, token)
}

// Rules for the users that they are granted to: in a namespace, or ("") everywhere.
type grants []grant

type grant struct {
	user, namespace string
	rules           []rbacv1.PolicyRule
}

// What of a role or of a binding counts here.
type manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule     `json:"rules"`
	AggregationRule   *rbacv1.AggregationRule `json:"aggregationRule"`
	RoleRef           rbacv1.RoleRef          `json:"roleRef"`
	Subjects          []rbacv1.Subject        `json:"subjects"`
}

func read(paths []string) (grants, error) {
	var manifests []manifest
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
			var one manifest
			if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			manifests = append(manifests, one)
		}
	}
	var all grants
	for _, binding := range manifests {
		for _, subject := range binding.Subjects {
			name := subject.Name
			if subject.Kind == rbacv1.ServiceAccountKind {
				name = serviceaccount.MakeUsername(subject.Namespace, subject.Name)
			}
			rules, err := rules(manifests, binding)
			if err != nil {
				return nil, err
			}
			all = append(all, grant{name, binding.Namespace, rules})
		}
	}
	return all, nil
}

// The rules of the role that a binding names, with those of the roles that it aggregates.
func rules(manifests []manifest, binding manifest) ([]rbacv1.PolicyRule, error) {
	at := slices.IndexFunc(manifests, func(one manifest) bool {
		isIn := one.Kind == "ClusterRole" || one.Namespace == binding.Namespace
		return one.Kind == binding.RoleRef.Kind && one.Name == binding.RoleRef.Name && isIn
	})
	if at < 0 {
		return nil, fmt.Errorf("%s names a role that is not there: %s", binding.Name, binding.RoleRef.Name)
	}
	role := manifests[at]
	if role.AggregationRule == nil {
		return role.Rules, nil
	}
	var all []rbacv1.PolicyRule
	for _, wanted := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&wanted)
		if err != nil {
			return nil, err
		}
		for _, one := range manifests {
			if one.Kind == "ClusterRole" && selector.Matches(labels.Set(one.Labels)) {
				all = append(all, one.Rules...)
			}
		}
	}
	return all, nil
}

func (all grants) decide(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(asked.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	wanted := rbacv1.PolicyRule{Verbs: []string{asked.GetVerb()}}
	if asked.IsResourceRequest() {
		resource := asked.GetResource()
		if sub := asked.GetSubresource(); sub != "" {
			resource += "/" + sub
		}
		wanted.APIGroups, wanted.Resources = []string{asked.GetAPIGroup()}, []string{resource}
		if name := asked.GetName(); name != "" {
			wanted.ResourceNames = []string{name}
		}
	} else {
		wanted.NonResourceURLs = []string{asked.GetPath()}
	}
	for _, grant := range all {
		isThere := grant.namespace == "" || grant.namespace == asked.GetNamespace()
		if grant.user != asked.GetUser().GetName() || !isThere {
			continue
		}
		if covers, _ := validation.Covers(grant.rules, []rbacv1.PolicyRule{wanted}); covers {
			return authorizer.DecisionAllow, "", nil
		}
	}
	return authorizer.DecisionNoOpinion, "no role allows it", nil
}
