// Package engine runs cascades: run -> phase -> attempt -> turn.
//
// The engine is a deterministic function of the cascade, the input and the outcomes of effects. Everything paid for or
// not deterministic (a model call, a tool call, the clock) goes through [Effects] under a structural key and is
// journaled and synced before anything outside the process depends on it.
//
// The package defines the interfaces that it consumes ([Model], [Tools], [Observer]); it never sees ClickHouse or a
// provider's library.
package engine
