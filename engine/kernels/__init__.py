"""The kernels, written in Rust, and their compilation; `engine.base.native` chooses and loads them."""
