// Package guest is what the guests of all kinds share: how a document comes in
// on stdin and goes out on stdout.
package guest

// Keep is the most memory in bytes that is kept from one call for the next.
const Keep = 1 << 20
