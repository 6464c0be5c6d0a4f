package echo

import "regexp"

// The beginnings of the keys of background entries; a number follows, in the order in which calls ended.
const (
	KeyCardCall  = "cards/call"  // a model summed messages up
	KeyCardEmbed = "cards/embed" // a model embedded texts

	KeyCardWarning = "cards/warning" // no number follows
)

var backgroundKey = regexp.MustCompile(`^(?:` + KeyCardCall + `\d+|` + KeyCardEmbed + `\d+|` + KeyCardWarning + `)$`)

// Background reports whether an entry records something that went on beside the run, to make cards of its messages: what
// it cost and what a person should know of it. Such an entry is no effect. The run does not ask for it and depends on
// neither its place nor its number, which are those of the moment; a replay passes it over.
func (e *Entry) Background() bool { return backgroundKey.MatchString(e.Key) }
