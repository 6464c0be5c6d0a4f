package echo

// Background reports whether an entry records something that was done in the background, to make cards of the run's
// messages: what it cost and what a person should know of it. Such an entry is no effect. The run does not ask for it and
// depends on neither its place nor its number; a replay skips it.
func (e *Entry) Background() bool { return e.Key.VisitKey() == CardsKey() }
