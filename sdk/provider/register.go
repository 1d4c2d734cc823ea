//go:build !wasip1

package provider

// Register makes p the plugin of this module. It is called once, in an init
// function. Outside of WebAssembly it does nothing: see Native.
func Register(p Provider) { _ = p }
