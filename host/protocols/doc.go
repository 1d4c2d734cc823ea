// Package protocols holds all provider plugins to the same rules, through the
// whole host: config, plugin, network, journal. It has only tests.
//
// A wire is a vendor's protocol as its own documentation describes it, written
// without a look at the plugin: what an answer, an error and a keep-alive look
// like, and what a strict server refuses. The suites play the same faults over
// all wires, streamed and in one piece, and expect the same outcome; where a
// protocol cannot have that outcome, the table names the reason.
//
// Read wire_test.go first, then faults_test.go.
package protocols
