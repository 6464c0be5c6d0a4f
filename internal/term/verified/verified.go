// Package verified prints what a verification of a session and its children found, for people.
package verified

import (
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/term"
)

// Write writes what a verification that holds found.
func Write(w io.Writer, v *app.Verification) {
	fmt.Fprintf(w, "Session %s %s: %s.\n%s", v.SessionID, holds(v), figures(v), unchecked(v.Redaction))
	writeChildren(w, v.Children, "  ")
}

// writeChildren writes a line for each child, with its own children indented below it.
func writeChildren(w io.Writer, children []*app.ChildVerification, indent string) {
	for _, c := range children {
		fmt.Fprintf(w, "%s%s at %s, session %s", indent, term.CleanLines(c.Name), c.Key, c.SessionID)
		switch {
		case c.Missing:
			fmt.Fprintln(w, ": not checked, it has not begun or its journal is not on this machine")
		case c.Unbegun:
			fmt.Fprintln(w, ": could not begin, and has no record")
		default:
			fmt.Fprintf(w, " %s: %s.\n", holds(c.Verification), figures(c.Verification))
			for line := range strings.Lines(unchecked(c.Redaction)) {
				fmt.Fprint(w, indent+"  "+line)
			}
			writeChildren(w, c.Children, indent+"  ")
		}
	}
}

func holds(v *app.Verification) string {
	switch c := v.Redaction; {
	case !v.Holds:
		return "does not hold"
	case c != nil && (c.Taken > 0 || c.NotMade > 0):
		return "holds as far as its redactions allow"
	}
	return "holds"
}

func figures(v *app.Verification) string {
	return fmt.Sprintf("%s, %s, %s and %s follow from its record (%s)", term.Plural(v.Entries, "entry"),
		term.Plural(v.Requests, "request"), term.Plural(v.Views, "view"), term.Plural(v.Selections, "selection"), v.Status)
}

// unchecked says what could not be checked of a session, as it is redacted.
func unchecked(c *app.RedactionCheck) string {
	if c == nil {
		return ""
	}
	are, hashes := "are", "their hashes are"
	if c.Messages == 1 {
		are, hashes = "is", "its hash is"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %d %s redacted: %s taken as recorded, not computed.\n", term.Plural(c.Messages, "message"), c.Of, are, hashes)
	for _, r := range c.Redactions {
		fmt.Fprintf(&b, "  %s  %s, %s, since %s", r.Hash, term.CleanLines(string(r.Role)), term.Plural(r.Characters, "character"), r.At.UTC().Format("2006-01-02 15:04:05 UTC"))
		if r.Reason != "" {
			fmt.Fprintf(&b, ": %s", term.CleanLines(r.Reason))
		}
		b.WriteByte('\n')
	}
	if c.Taken > 0 {
		follow := "follow from what is redacted, and were taken as recorded, not compared"
		if c.Taken == 1 {
			follow = "follows from what is redacted, and was taken as recorded, not compared"
		}
		fmt.Fprintf(&b, "%s %s.\n", term.Plural(c.Taken, "entry"), follow)
	}
	if c.NotMade > 0 {
		fmt.Fprintf(&b, "From entry %d on only the checksums were checked: the message that decided the route of the run is redacted.\n", c.NotMade)
	}
	return b.String()
}
