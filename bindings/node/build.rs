//! Tells the linker that Node provides this library's missing symbols when it loads it.

fn main() {
    napi_build::setup();
}
