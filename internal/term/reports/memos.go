package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term"
)

// Memos has a row for each memo. There is a column of notes where one has a note.
func Memos(list []memories.Memo) *term.Table {
	heads := []string{"memo", "scope", "saved", "by", ">told", "tags", "text"}
	noted := slices.ContainsFunc(list, func(m memories.Memo) bool { return m.Unread })
	if noted {
		heads = slices.Insert(heads, 6, "note")
	}
	t := term.NewTable(heads...)
	short := make([]string, len(list)) // the times, without the year
	for i := range list {
		m := &list[i]
		short[i] = m.At.Local().Format("01-02 15:04")
		cells := []string{m.ID, m.Scope, minute(m.At), oneline.Of(m.Who()), term.Count(int64(len(m.ReadBy))), strings.Join(m.Tags, " ")}
		if noted {
			cells = append(cells, unreadNote(m))
		}
		t.Add(append(cells, oneline.Of(m.Text))...)
	}
	return t.Key("memo").Shorten("saved", short).Drop("told", "by", "scope", "tags").BreakLast()
}

// unreadNote says that none of the newest runs was told of a memo; "" of others.
func unreadNote(m *memories.Memo) string {
	if !m.Unread {
		return ""
	}
	return fmt.Sprintf("not read in %d runs", bank.UnreadRuns)
}

// Memo says all of one memo.
func Memo(m *memories.Memo) []string {
	lines := []string{
		m.Text, "",
		fmt.Sprintf("memo %s (%s), version %s", m.ID, m.Scope, m.Version),
		fmt.Sprintf("saved %s by %s", minute(m.At), oneline.Of(m.Who())),
	}
	if m.Key.String() != "" {
		lines[3] += " at " + m.Key.String()
	}
	if len(m.Tags) > 0 {
		lines = append(lines, "tags: "+strings.Join(m.Tags, " "))
	}
	if len(m.ReadBy) > 0 {
		lines = append(lines, "told to: "+readBy(m.ReadBy))
	}
	if note := unreadNote(m); note != "" {
		lines = append(lines, note)
	}
	if m.See != "" {
		lines = append(lines, "where it was saved: "+m.See)
	}
	return lines
}

// MemoVersions has a row for each version, the newest last.
func MemoVersions(list []memories.Memo) *term.Table {
	t := term.NewTable("memo", "version", "at", "by", "where", "command", "state", "told to", "text")
	short := make([]string, len(list))
	for i := range list {
		m := &list[i]
		short[i] = m.At.Local().Format("01-02 15:04")
		state := stateOf(&memories.Version{Forgotten: m.Forgotten, Gone: m.Gone, Current: m.Current, Imported: m.Imported})
		t.Add(m.ID, m.Version, minute(m.At), oneline.Of(m.Who()), m.Key.String(), oneline.Of(m.Command), state, readBy(m.ReadBy), oneline.Of(m.Text))
	}
	return t.Key("memo").Shorten("at", short).Drop("where", "told to", "version", "by", "command").BreakLast()
}

// MemoAdded says what saving a memo has come to.
func MemoAdded(e *memories.MemoEdited) []string {
	if !e.Changed {
		return []string{fmt.Sprintf("Nothing is saved: the memo %s (%s) says that already.", e.ID, e.Scope)}
	}
	return []string{fmt.Sprintf("Saved as memo %s (%s).", e.ID, e.Scope)}
}

// MemoEdited says what a change of a memo has come to.
func MemoEdited(e *memories.MemoEdited) []string {
	switch {
	case !e.Changed:
		return []string{"Nothing is written: the memo " + e.ID + " says that already."}
	case e.Gone:
		return []string{"Deleted the memo " + e.ID + ". Its versions stay: windlass memos history " + e.ID}
	}
	return []string{"Changed the memo " + e.ID + "."}
}

// MemosExported says what an export has.
func MemosExported(e *memories.MemosExported) []string {
	return []string{fmt.Sprintf("Wrote %s: %s of %s.", e.File, term.Plural(e.Versions, "version"), term.Plural(e.Memos, "memo"))}
}

// MemosImported says what an import has come to.
func MemosImported(i *memories.MemosImported) []string {
	return []string{fmt.Sprintf("Imported %s, %d were there.", term.Plural(i.New, "new version"), i.Known)}
}

// MemoForgotten says what was forgotten of a memo, or would be, and where the text is still.
func MemoForgotten(f *memories.MemoForgotten, done bool) (lines []string) {
	what := "The text of " + term.Plural(f.Versions, "version") + " of the memo " + f.ID
	if done {
		lines = append(lines, what+" is forgotten.")
	} else {
		lines = append(lines, what+" would be forgotten.")
	}
	return append(lines, leftOver([]head{
		{"Other memos have, or had, one of the texts, and keep it:", f.Also},
		{"Messages of sessions have the text still. These commands print them, with their hashes:", f.Look},
		{"These take it out, with the HASH of such a message:", f.Redact},
		{"In the records of sessions it is a value of a phase without a model, too. Redaction does not reach that yet; these remove the session:", f.Delete},
		{"Sessions that are not on this machine have it in their records, too:", f.Missing},
	})...)
}

// head is a line with others below it.
type head struct {
	text  string
	below []string
}

// leftOver says what has a forgotten text still: each head that has something below it.
func leftOver(heads []head) (lines []string) {
	for _, h := range heads {
		if len(h.below) > 0 {
			lines = append(lines, h.text)
			for _, one := range h.below {
				lines = append(lines, "  "+one)
			}
		}
	}
	return lines
}
