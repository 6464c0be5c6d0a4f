// Package redacted prints what the redaction of a message changed, and where its text still is, for people.
package redacted

import (
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/redaction"
	"github.com/windlass-run/windlass/internal/term"
)

// Write writes what became of a message, and where it still is.
func Write(w io.Writer, r *archive.Redacted) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	what := fmt.Sprintf("%s (%s, %s)", r.Hash, r.Role, term.Plural(r.Characters, "character"))
	changed := term.Plural(len(r.Entries), "entry")
	switch {
	case r.Already:
		line("Message %s of session %s was redacted on %s; what was left of it then is not known any more.", what, r.SessionID, r.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	case r.DryRun:
		line("Message %s of session %s would be redacted: %s of its journal would change.", what, r.SessionID, changed)
	default:
		line("Message %s of session %s is redacted: %s of its journal changed.", what, r.SessionID, changed)
	}
	switch r.Stored {
	case archive.StoredReplaced:
		line("ClickHouse has the new rows; it removes the old files some minutes later.")
	case archive.StoredPending:
		line("The rows in ClickHouse would be replaced.")
	}
	leftText(line, r)
	list(&b, "Answers that had it, which no run has taken: they are gone, and these waits are open again:", r.Answers)
	list(&b, "Audibles that had it, which no turn has taken: they are gone:", r.Audibles)
	forgotten := "Texts of it that banks had remembered; they have forgotten them:"
	if r.DryRun {
		forgotten = "Texts of it that banks have remembered, and would forget:"
	}
	list(&b, forgotten, r.Memory.Forgotten)
	list(&b, "Banks and memos of the project folder, and shared ones, have it, or lines or long words of it. Each is taken out by its command there:", r.Memory.Left)
	list(&b, "Could not be looked through:", r.Memory.Problems)
	list(&b, "Files that contain it and were not changed:", r.Files)
	list(&b, "Other sessions that have this message:", r.Sessions)
	list(&b, "Sessions above or below this one have it, or lines or long words of it; each is redacted by itself:", inTree(r.Tree))
	list(&b, "Other databases that have the session; run the command again with their DSN:", r.Others)
	_, err := io.WriteString(w, b.String())
	return err
}

// inTree lists the commands that redact the sessions of a tree; of one that has the text in no message
// it says where it is.
func inTree(tree []archive.Relative) (lines []string) {
	for i := range tree {
		r := &tree[i]
		for _, hash := range r.Hashes() {
			lines = append(lines, fmt.Sprintf("windlass sessions redact %s %s", r.ID, hash))
		}
		switch {
		case r.Problem != "":
			lines = append(lines, fmt.Sprintf("%s could not be looked through: %s", r.ID, r.Problem))
		case len(r.Hashes()) == 0:
			lines = append(lines, fmt.Sprintf("%s, in no message: %s", r.ID, placeText(r.Places[0])))
		}
	}
	return lines
}

// leftText says what is left of a message in the session, and what takes it out.
func leftText(line func(string, ...any), r *archive.Redacted) {
	if r.Short > 0 {
		line("%s shorter than 4 characters: not looked for elsewhere.", term.Plural(r.Short, "value"))
	}
	n := len(r.Left)
	if n == 0 {
		return
	}
	have, out := "still have", "redact these messages, too"
	if n == 1 {
		have = "still has"
	}
	if r.DryRun {
		have, out = "would still have", "--parts takes them out, or redact these messages, too"
	}
	line("%s %s lines or long words of it; %s:", term.Plural(n, "other place"), have, out)
	for _, p := range r.Left {
		line("  %s", placeText(p))
	}
}

func list(b *strings.Builder, head string, all []string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(b, head)
	for _, one := range all {
		fmt.Fprintf(b, "  %s\n", term.CleanLines(one))
	}
}

func placeText(p redaction.Place) string {
	switch {
	case p.Seq == 0:
		return "the cascade, input or first state of the session"
	case p.Hash == "":
		return fmt.Sprintf("entry %d (%s)", p.Seq, p.Node)
	}
	return fmt.Sprintf("entry %d (%s): %s", p.Seq, p.Node, p.Hash)
}
