//! How the services of the protocol are spelled: by their calls.

/// A service of calls with one request and one answer. Each is carried out by the function of its name, or by the one behind
/// `=`, which is given who asks. Calls of another form stand behind, as they are.
macro_rules! service {
    (
        impl $service:ident for $of:ident {
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
                $crate::rpc::answer(&self.0, done(&self.0, &asking, message).await)
            })*
            $($($others)*)?
        }
    };
    (@call $method:ident) => { $method };
    (@call $method:ident $call:path) => { $call };
}

pub(super) use service;
