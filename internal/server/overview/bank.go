package overview

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/linediff"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/server/page"
)

// bankView is the screen of one bank.
type bankView struct {
	Name, Folder string
	Home         string // the address of the bank
	Runs         int    // after how many runs something counts as unread
	File         *fileView
	Files        []fileRow
	Versions     []versionRow
	Older        int // versions that are not shown
	Texts        []textRow
	OlderTexts   int
	SQL          []namedSQL
}

// fileView is the text of a file.
type fileView struct {
	Path, Version string
	Text          string
	Cut           bool
	Before        string          // the version that Changes are from
	Changes       []linediff.Line // nil: none are shown
	Problem       string
}

type fileRow struct {
	File     page.Link
	Bytes    int
	Written  time.Time
	Who      page.Link
	Versions int
	Others   int // further versions that nothing replaces
	ReadBy   readers
	Unread   bool
}

type versionRow struct {
	Version page.Link
	At      time.Time
	Who     page.Link
	Where   string
	Command string
	Path    string
	From    string
	Bytes   int
	State   string
	ReadBy  readers
}

type textRow struct {
	Hash   string
	At     time.Time
	Who    page.Link
	Where  string
	Said   string
	Bytes  int
	State  string
	Begins string
	ReadBy readers
}

// readers are the sessions that were told of something.
type readers struct {
	Count int
	Last  page.Link
}

func readersOf(ids []string) readers {
	if len(ids) == 0 {
		return readers{}
	}
	last := ids[len(ids)-1]
	return readers{len(ids), page.Link{Title: last, Path: pathOfSession(last)}}
}

// whoOf returns who has written something: a person, or a session with a link.
func whoOf(person, session string) page.Link {
	if person != "" || session == "" {
		return page.Link{Title: person}
	}
	return page.Link{Title: session, Path: pathOfSession(session)}
}

// What a screen of a bank shows at most.
const (
	mostVersions = 300
	mostTexts    = 200
	mostText     = 256 << 10
	mostChanged  = 64 << 10
	mostBegins   = 200
)

// The fields of the address of a bank.
const (
	fieldPath    = "path"
	fieldVersion = "version"
)

func (x *overview) bank(v *page.Visit) error {
	name, folder := v.Of("bank"), v.Query().Get(fieldProject)
	if scope, ok := strings.CutPrefix(name, memosOf); ok {
		return x.memos(v, scope, folder)
	}
	b, err := x.listed(name, folder)
	if err != nil {
		return err
	}
	desk := memories.Open(x.Archive.Home, folder, "")
	view := &bankView{Name: name, Folder: folder, Home: pathOfBank(name, folder), Runs: bank.UnreadRuns}
	if err := view.fill(desk, b); err != nil {
		return err
	}
	if path := v.Query().Get(fieldPath); path != "" {
		view.File = fileOf(desk, name, path, v.Query().Get(fieldVersion))
	}
	view.SQL = []namedSQL{{"What runs have written into this bank", figures.BankSQL(name, projectOf(folder))}}
	return v.Show("bank", "Bank "+name, view)
}

// projectOf returns a project folder as rows of ClickHouse have it.
func projectOf(folder string) string { return bank.Ref{Folder: folder}.Project() }

func (view *bankView) fill(desk *memories.Desk, b *memories.Listed) error {
	files, err := desk.Tree(b.Bank, memory.Root)
	if err != nil {
		return err
	}
	versions, err := desk.History(b.Bank, "")
	if err != nil {
		return err
	}
	texts, err := desk.Remembered(b.Bank, "")
	if err != nil {
		return err
	}
	read := map[string][]string{}
	for i := range versions {
		read[versions[i].ID] = versions[i].ReadBy
	}
	for i := range files {
		f := &files[i]
		view.Files = append(view.Files, fileRow{
			File: page.Link{Title: f.Path, Path: view.pathOf(f.Path, "")}, Bytes: f.Bytes, Written: f.At, Who: whoOf(f.Person, f.Session), Versions: f.Versions,
			Others: len(f.Others), ReadBy: readersOf(read[f.ID]), Unread: slices.Contains(b.Unread, f.Path),
		})
	}
	for i := range slices.Backward(versions) {
		if view.Older = i + 1; len(view.Versions) == mostVersions {
			break
		}
		view.Older = i
		view.Versions = append(view.Versions, view.versionOf(&versions[i]))
	}
	for i := range slices.Backward(texts) {
		if view.OlderTexts = i + 1; len(view.Texts) == mostTexts {
			break
		}
		view.OlderTexts = i
		view.Texts = append(view.Texts, textOf(&texts[i]))
	}
	return nil
}

// pathOf returns the address of a file, or of a version of it.
func (view *bankView) pathOf(path, version string) string {
	q := url.Values{fieldPath: {path}}
	if view.Folder != "" {
		q.Set(fieldProject, view.Folder)
	}
	if version != "" {
		q.Set(fieldVersion, version)
	}
	return pathMemory + "/" + url.PathEscape(view.Name) + "?" + q.Encode()
}

func (view *bankView) versionOf(v *memories.Version) versionRow {
	row := versionRow{
		Version: page.Link{Title: v.ID}, At: v.At, Who: whoOf(v.Person, v.Session), Where: v.Key.String(), Command: v.Command, Path: v.Path, From: v.From,
		Bytes: v.Bytes, State: stateOf(v.Forgotten, v.Gone, v.Current, v.Imported), ReadBy: readersOf(v.ReadBy),
	}
	if !v.Gone && !v.Forgotten {
		row.Version.Path = view.pathOf(v.Path, v.ID)
	}
	return row
}

// stateOf says what a version is among those of the same thing.
func stateOf(forgotten, gone, current, imported bool) string {
	var out []string
	switch {
	case forgotten:
		out = append(out, "forgotten")
	case gone:
		out = append(out, "gone")
	case current:
		out = append(out, "now")
	}
	if imported {
		out = append(out, "imported")
	}
	return strings.Join(out, ", ")
}

func textOf(r *memories.Remembered) textRow {
	row := textRow{
		Hash: string(r.Hash), At: r.At, Who: whoOf("", r.Session), Where: r.Key.String(), Said: saidBy(r.Role, r.Tool), Bytes: r.Bytes,
		State: stateOf(r.Forgotten, false, false, r.Imported), Begins: excerpt.Line(r.Text, mostBegins), ReadBy: readersOf(r.ReadBy),
	}
	if r.Withdrawn {
		row.State = strings.TrimPrefix(row.State+", withdrawn", ", ")
	}
	return row
}

func saidBy(role echo.Role, tool string) string {
	if tool != "" {
		return "tool " + tool
	}
	return string(role)
}

// fileOf returns the text of a file, or of a version of it, with what the version has changed.
func fileOf(desk *memories.Desk, name, path, version string) *fileView {
	view := &fileView{Path: path, Version: version}
	f, _, err := desk.Show(name, path, version)
	switch {
	case err != nil:
		view.Problem = excerpt.Line(err.Error(), mostProblem) + "."
		return view
	case f == nil:
		view.Problem = "This is a folder; the list has the files in it."
		return view
	}
	view.Path, view.Version, view.Text = f.Path, f.ID, *f.Text
	if len(view.Text) > mostText {
		view.Text, view.Cut = excerpt.Clip(view.Text, mostText), true
	}
	view.change(desk, name, *f.Text)
	return view
}

// change adds what the version has changed, where both texts are short enough to be compared.
func (view *fileView) change(desk *memories.Desk, name, text string) {
	versions, err := desk.History(name, view.Path)
	if err != nil {
		return // the text is there
	}
	before := ""
	for i := range versions {
		v := &versions[i]
		if v.ID == view.Version {
			break
		}
		if !v.Gone && !v.Forgotten {
			before = v.ID
		}
	}
	if before == "" || len(text) > mostChanged {
		return
	}
	i := slices.IndexFunc(versions, func(v memories.Version) bool { return v.ID == before })
	old, _, err := desk.Show(name, versions[i].Path, before)
	if err != nil || old == nil || len(*old.Text) > mostChanged {
		return
	}
	view.Before, view.Changes = before, linediff.Of(*old.Text, text)
}
