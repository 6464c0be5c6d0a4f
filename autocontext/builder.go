package autocontext

import "github.com/windlass-run/windlass/echo"

// Builder makes the views of one visit to a phase, one for each model call. It remembers what it made of each message,
// so that a call costs what has changed since the one before. It belongs to one goroutine. What it returns depends on the
// settings, the history and the carry only: a builder that has seen nothing yet gives the same answer.
type Builder struct{ settings Settings }

// NewBuilder returns a builder for one visit to a phase.
func NewBuilder(s Settings) *Builder { return &Builder{settings: s} }

// Step is the next thing to do: to send View, or, when Ask is not nil, to get an answer first.
type Step struct {
	View   *View
	Carry  Carry // for the next Build
	Ask    *Ask
	Events []GuardEvent
}

// Build decides what the next call is sent. The history may only have grown since the last call.
func (b *Builder) Build(history []echo.Item, c Carry) (Step, error) { panic("next commit") }

// Answer returns the carry with which to build again once an [Ask] is answered.
func (b *Builder) Answer(c Carry, a *Ask, ans Answer) Carry { panic("next commit") }

// Used returns the carry after a call whose request the provider counted: in is the tokens that it reported as sent.
func (b *Builder) Used(c Carry, in int64) Carry { panic("next commit") }

// Refused returns the carry after a call that the provider refused as too long, so that the next Build makes room; false
// when it was refused before and nothing has helped.
func (b *Builder) Refused(c Carry) (Carry, bool) { panic("next commit") }

// MayMask reports whether a view of this phase can hold less than the history, so that recall is worth offering. It is
// constant while only the policy applies, and becomes true once the guard has made room.
func (b *Builder) MayMask(c Carry) bool { panic("next commit") }

// Frontier returns the index of the history before which tool results may be masked.
func (b *Builder) Frontier(c Carry) int { panic("next commit") }

// Masked reports whether the newest view does not hold the whole of the message with this hash.
func (b *Builder) Masked(h echo.Hash) bool { panic("next commit") }
