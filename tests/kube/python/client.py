"""Works on the Kubernetes API of Synod by the Python client of Kubernetes.

Its argument is the address of a replica that has the namespaced collection widgets.example.io. It prints each step that it has done, and
ends with an exception at the first that fails.
"""

import sys

from kubernetes import client, dynamic, watch
from kubernetes.client.exceptions import ApiException

GROUP, VERSION, NAMESPACE, PLURAL = "example.io", "v1", "python", "widgets"


def widget(name: str, size: int) -> dict:
    """The document of a widget."""
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"size": size},
    }


def refused(code: int, call) -> ApiException:
    """Expects a call to be refused with this status."""
    try:
        call()
    except ApiException as error:
        assert error.status == code, error
        return error
    raise AssertionError(f"it was not refused with {code}")


def objects(api: client.ApiClient) -> None:
    """Custom objects are created, read, patched, watched and deleted."""
    custom = client.CustomObjectsApi(api)
    place = (GROUP, VERSION, NAMESPACE, PLURAL)
    made = custom.create_namespaced_custom_object(*place, widget("a", 1))
    assert made["metadata"]["generation"] == 1, made
    refused(409, lambda: custom.create_namespaced_custom_object(*place, widget("a", 1)))
    refused(404, lambda: custom.get_namespaced_custom_object(*place, "nothing"))
    revision = made["metadata"]["resourceVersion"]
    patched = custom.patch_namespaced_custom_object(*place, "a", {"spec": {"size": 2}})
    assert patched["spec"]["size"] == 2, patched
    events = watch.Watch().stream(
        custom.list_namespaced_custom_object, *place, resource_version=revision, timeout_seconds=5
    )
    event = next(iter(events))
    assert (event["type"], event["object"]["spec"]["size"]) == ("MODIFIED", 2), event
    listed = custom.list_namespaced_custom_object(*place, limit=1)
    assert [one["metadata"]["name"] for one in listed["items"]] == ["a"], listed
    deleted = custom.delete_namespaced_custom_object(*place, "a")
    assert deleted["status"] == "Success", deleted
    custom.create_namespaced_custom_object(*place, widget("b", 1))
    custom.delete_collection_namespaced_custom_object(*place)
    assert custom.list_namespaced_custom_object(*place)["items"] == []


def applied(api: client.ApiClient) -> None:
    """The dynamic client applies, and meets a conflict."""
    found = dynamic.DynamicClient(api).resources.get(api_version=f"{GROUP}/{VERSION}", kind="Widget")
    found.server_side_apply(widget("s", 1), namespace=NAMESPACE, name="s", field_manager="one")
    conflict = refused(
        409, lambda: found.server_side_apply(widget("s", 2), namespace=NAMESPACE, name="s", field_manager="two")
    )
    assert "conflict with" in str(conflict.body), conflict.body
    forced = found.server_side_apply(
        widget("s", 2), namespace=NAMESPACE, name="s", field_manager="two", force_conflicts=True
    )
    assert forced.spec.size == 2, forced


def leases(api: client.ApiClient) -> None:
    """A lease is acquired, and shown by its own type."""
    coordination = client.CoordinationV1Api(api)
    lease = client.V1Lease(
        metadata=client.V1ObjectMeta(name="p"),
        spec=client.V1LeaseSpec(holder_identity="x", lease_duration_seconds=3600),
    )
    made = coordination.create_namespaced_lease(NAMESPACE, lease)
    assert made.spec.holder_identity == "x", made
    assert made.spec.acquire_time is not None, made
    made.spec.holder_identity = "y"
    refused(409, lambda: coordination.replace_namespaced_lease("p", NAMESPACE, made))


def reviews(api: client.ApiClient) -> None:
    """It may do what it asks about."""
    review = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(verb="get", group=GROUP, resource=PLURAL)
        )
    )
    answer = client.AuthorizationV1Api(api).create_self_subject_access_review(review)
    assert answer.status.allowed, answer


def main() -> None:
    """Does one step after the other."""
    configuration = client.Configuration(host=sys.argv[1])
    with client.ApiClient(configuration) as api:
        for step in (objects, applied, leases, reviews):
            step(api)
            print(f"{step.__name__}: ok")


if __name__ == "__main__":
    main()
