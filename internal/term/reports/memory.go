package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term"
)

// Banks has a row for each bank of memory, with its folder when there are banks of others.
func Banks(list []memories.Listed, every bool) *term.Table {
	heads := []string{"bank", ">files", ">bytes", ">versions", ">texts", ">sessions", "written"}
	if every {
		heads = append(heads, "folder")
	}
	t := term.NewTable(append(heads, "note")...)
	for i := range list {
		b := &list[i]
		cells := []string{b.Bank, term.Count(int64(b.Files)), term.Count(int64(b.Bytes)), term.Count(int64(b.Versions)), term.Count(int64(b.Texts)), term.Count(int64(b.Sessions)), ""}
		if b.Written != nil {
			cells[6] = minute(*b.Written)
		}
		note := oneline.Of(b.Error)
		unread := inBank(b.Unread)
		if b.Idle > 0 {
			unread = append(unread, term.Plural(b.Idle, "remembered text"))
		}
		if len(unread) > 0 {
			note = fmt.Sprintf("not read in %d runs: %s", bank.UnreadRuns, strings.Join(unread, ", "))
		}
		if b.Error != "" {
			cells = []string{b.Bank, "", "", "", "", "", ""}
		}
		if every {
			cells = append(cells, cmp.Or(b.Folder, "shared"))
		}
		t.Add(append(cells, note)...)
	}
	return t.Key("bank").Drop("versions", "sessions", "bytes", "texts").WrapLast()
}

// inBank returns paths as a person may write them.
func inBank(paths []string) []string {
	out := slices.Clone(paths)
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], memory.Root+"/")
	}
	return out
}

func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// Memories has a row for each file of a bank: below the row of a folder are those of the files in it.
func Memories(list []memories.File) *term.Table {
	t := term.NewTable("file", ">bytes", "written", "by", "where", "version", ">versions")
	var open []string // the folders of the row before
	for i := range list {
		f := &list[i]
		names := strings.Split(strings.TrimPrefix(f.Path, memory.Root+"/"), "/")
		folders := names[:len(names)-1]
		for n, name := range folders {
			if n < len(open) && open[n] == name {
				continue
			}
			open = slices.Clone(folders[:n])
			t.Add(strings.Repeat("  ", n)+name+"/", "", "", "", "", "", "")
		}
		open = slices.Clone(folders)
		t.Add(strings.Repeat("  ", len(folders))+names[len(names)-1], term.Count(int64(f.Bytes)), minute(f.At), oneline.Of(f.Who()), f.Key.String(), f.ID,
			term.Count(int64(f.Versions)))
	}
	return t.Key("file").Drop("versions", "version", "where")
}

// MemoryVersions has a row for each version, the newest last.
func MemoryVersions(list []memories.Version) *term.Table {
	t := term.NewTable("version", "at", "by", "where", "command", "file", ">bytes", "state", "read by")
	short := make([]string, len(list)) // the times, without the year
	for i := range list {
		v := &list[i]
		short[i] = v.At.Local().Format("01-02 15:04")
		size, file := term.Count(int64(v.Bytes)), inBank([]string{v.Path})[0]
		if v.Gone || v.Forgotten {
			size = ""
		}
		if v.From != "" {
			file += ", before " + inBank([]string{v.From})[0]
		}
		t.Add(v.ID, minute(v.At), oneline.Of(v.Who()), v.Key.String(), oneline.Of(v.Command), file, size, stateOf(v), readBy(v.ReadBy))
	}
	return t.Key("version").Shorten("at", short).Drop("where", "read by", "bytes", "command")
}

// stateOf says what a version is among those of its path.
func stateOf(v *memories.Version) string {
	var out []string
	switch {
	case v.Forgotten:
		out = append(out, "forgotten")
	case v.Gone:
		out = append(out, "gone")
	case v.Current:
		out = append(out, "now")
	}
	if v.Imported {
		out = append(out, "imported")
	}
	return strings.Join(out, ", ")
}

func readBy(sessions []string) string {
	switch n := len(sessions); n {
	case 0:
		return ""
	case 1:
		return sessions[0]
	default:
		return fmt.Sprintf("%d sessions, last %s", n, sessions[n-1])
	}
}

// mostSeen is how many commands that show messages a list of versions ends with.
const mostSeen = 5

// SeenBy returns the commands that show the messages from which versions come, the newest last.
func SeenBy(list []memories.Version) (out []string) {
	for i := range list {
		if see := list[i].See; see != "" {
			out = append(slices.DeleteFunc(out, func(had string) bool { return had == see }), see)
		}
	}
	return out[max(0, len(out)-mostSeen):]
}

// MemoryEdited says what an edit of a bank has come to.
func MemoryEdited(e *memories.Edited) (lines []string) {
	if !e.Changed {
		return []string{"Nothing is written: the text is what the bank has."}
	}
	for i := range e.Wrote {
		v := &e.Wrote[i]
		switch {
		case v.From != "":
			lines = append(lines, fmt.Sprintf("Renamed %s to %s (version %s).", v.From, v.Path, v.ID))
		case v.Gone && !slices.ContainsFunc(e.Wrote, func(o memories.Version) bool { return o.From == v.Path }):
			lines = append(lines, fmt.Sprintf("Deleted %s (version %s). Its versions stay: windlass memory history %s", v.Path, v.ID, e.Bank))
		case !v.Gone:
			lines = append(lines, fmt.Sprintf("Wrote %s: %s (version %s).", v.Path, term.Counted(v.Bytes, "byte"), v.ID))
		}
	}
	return lines
}

// MemoryExported says what an export has.
func MemoryExported(e *memories.Exported) []string {
	return []string{fmt.Sprintf("Wrote %s: %s of %s.", e.File, term.Plural(e.Versions, "version"), term.Plural(e.Files, "file")) + andTexts(e.Texts, "remembered text")}
}

// MemoryImported says what an import has come to.
func MemoryImported(i *memories.Imported) []string {
	return []string{fmt.Sprintf("Imported %s, %d were there.", term.Plural(i.New, "new version"), i.Known) + andTexts(i.Texts, "new remembered text")}
}

// andTexts says how many remembered texts there are besides; "" for none.
func andTexts(count int, what string) string {
	if count == 0 {
		return ""
	}
	return " And " + term.Plural(count, what) + "."
}

// Remembered has a row for each text that a bank has remembered by itself.
func Remembered(list []memories.Remembered) *term.Table {
	t := term.NewTable("text", "at", "session", "where", "who", ">bytes", "read by", "begins")
	for i := range list {
		r := &list[i]
		begins := oneline.Of(excerpt.Clip(r.Text, mostBegins))
		switch {
		case r.Forgotten:
			begins = "(forgotten)"
		case r.Withdrawn:
			begins = "(withdrawn) " + begins
		}
		t.Add(string(r.Hash), minute(r.At), r.Session, r.Key.String(), whoSaid(r), term.Count(int64(r.Bytes)), readBy(r.ReadBy), begins)
	}
	return t.Key("text").Drop("where", "read by", "bytes", "who").BreakLast()
}

// mostBegins is how many bytes of a remembered text a list shows.
const mostBegins = 200

// whoSaid says whose words a remembered text is.
func whoSaid(r *memories.Remembered) string {
	switch r.Role { //nolint:exhaustive // nothing is remembered of others
	case echo.RoleTool:
		return "tool " + r.Tool
	case echo.RoleAssistant:
		return "model"
	}
	return "person"
}

// Diverging returns the warning of files of a bank that have several versions which nothing replaces; "" for none.
func Diverging(name string, list []memories.File) string {
	var paths []string
	for i := range list {
		if len(list[i].Others) > 0 {
			paths = append(paths, list[i].Path)
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return Divergent(name, paths)
}

// Divergent says of paths that several versions are there which nothing replaces, and what settles it.
func Divergent(name string, paths []string) string {
	were := "were"
	if len(paths) == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s of the bank %s %s written here and elsewhere, and both versions are kept. Runs see the newer one. The next write settles it: windlass memory edit %s PATH",
		strings.Join(paths, ", "), name, were, name)
}

// MemoryText writes the text of a file as it is; a terminal is shown it without what would control it.
func MemoryText(w io.Writer, whole *string) error {
	text := *whole
	if term.IsTerminal(w) {
		text = strings.TrimSuffix(term.WithoutControls(text), "\n") + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// MemoryDiverging is [Diverging] of a file that is shown.
func MemoryDiverging(name string, f *memories.File) string {
	if !f.Current || len(f.Others) == 0 {
		return ""
	}
	return fmt.Sprintf("this is version %s, and %s is there, too (--version): %s", f.ID, strings.Join(f.Others, ", "), Divergent(name, []string{f.Path}))
}

// Forgotten says what a bank has forgotten, or would forget, and where the text is still.
func Forgotten(f *memories.Forgotten, done bool) (lines []string) {
	what := fmt.Sprintf("the text of %s of %s", term.Plural(f.Versions, "version"), f.Path)
	if f.Texts > 0 {
		what = fmt.Sprintf("%s, %s", term.Plural(f.Texts, "remembered text"), f.What)
	}
	verb := "would forget"
	if done {
		verb = "has forgotten"
	}
	lines = append(lines, fmt.Sprintf("The bank %s %s %s.", f.Bank, verb, what))
	return append(lines, leftOver([]head{
		{"Also under the names that the file had before:", f.Names},
		{"Other files of the bank have, or had, one of the texts, and keep it:", f.Also},
		{"Messages of sessions have the text still. These commands print them, with their hashes:", f.Look},
		{"These take it out, with the HASH of such a message:", f.Redact},
		{"In the records of sessions it is a value of a phase without a model, too. Redaction does not reach that yet; these remove the session:", f.Delete},
		{"Sessions that are not on this machine have it in their records, too:", f.Missing},
	})...)
}
