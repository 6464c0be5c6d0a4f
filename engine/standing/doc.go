// Package standing has what stands at the end of the requests of a phase, whatever leaves the window: the scratchpad and the
// state block of the session. They are values of its state, which a model changes by a tool or by words in its answers; what is
// read of them here follows from recorded messages alone.
package standing
