// Package effect is how a run touches the world and its record.
//
// What is paid for or not deterministic goes through [Effects] under a structural key: [NewLive]
// performs it, [NewAnswered] answers it from recorded outcomes, and a program may bring an
// implementation of its own; effecttest is the contract that all of them pass. A [Recorder] is
// between the run and them: it answers a run from what is recorded of it, branch by branch,
// compares what the run would record with what is recorded, and passes on what the record does not
// have. [Seams] are what a run takes from its process besides.
package effect
