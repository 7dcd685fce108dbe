//! A macro that implements a gRPC service by a list of its calls.

/// Implements a service of calls with one request and one answer. Each call is executed by the function of its name, or
/// by the one after `=`, which gets the handle, the context and the message. Other calls follow in braces, written out.
///
/// The handle is the service's field `0`, or the one after `by`.
macro_rules! service {
    (impl $service:ident for $of:ident { $($calls:tt)* } $($others:tt)?) => {
        $crate::rpc::calls::service! { impl $service for $of by 0 { $($calls)* } $($others)? }
    };
    (
        impl $service:ident for $of:ident by $handle:tt {
            $($method:ident $(= $call:path)?: $request:ident => $response:ident;)*
        }
        $({ $($others:tt)* })?
    ) => {
        #[tonic::async_trait]
        impl $service for $of {
            $(async fn $method(
                &self,
                request: tonic::Request<v1::$request>,
            ) -> Result<tonic::Response<v1::$response>, tonic::Status> {
                let (asking, message) = $crate::rpc::opened(request);
                let done = $crate::rpc::calls::service!(@call $method $($call)?);
                let handle = &self.$handle;
                $crate::rpc::answer(handle, done(handle, &asking, message).await)
            })*
            $($($others)*)?
        }
    };
    (@call $method:ident) => { $method };
    (@call $method:ident $call:path) => { $call };
}

pub(super) use service;
