//! Tells the linker that Node gives this library its symbols when it loads it.

fn main() {
    napi_build::setup();
}
