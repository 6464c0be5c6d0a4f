package overview

import (
	"slices"
	"time"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/server/page"
)

// memosView is the screen of the memos of a project, or of the global ones.
type memosView struct {
	Title, Folder string
	Runs          int // after how many runs something counts as unread
	Memos         []memoVersion
	Left          int
	Versions      []memoVersion
	Older         int
	SQL           []namedSQL
}

// memoVersion is a memo as it is now, or one version of one.
type memoVersion struct {
	ID, Version string
	Text        string
	Tags        []string
	At          time.Time
	Who         page.Link
	Where       string
	Command     string
	State       string
	ReadBy      readers
	Unread      bool
}

// mostMemo is how many bytes of a memo are shown.
const mostMemo = 1000

func (x *overview) memos(v *page.Visit, scope, folder string) error {
	if !slices.Contains(memo.Scopes(), scope) || (scope == memo.Global) != (folder == "") {
		return page.Missing("There are no memos at this address.")
	}
	files, err := memories.MemoFiles(x.Archive.Home)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(f memories.MemoFile) bool { return f.Scope == scope && f.Folder == folder }) {
		return page.Missing("There are no memos of this project.")
	}
	history, err := memories.OpenMemos(x.Archive.Home, folder, "").History(scope, "")
	if err != nil {
		return err
	}
	view := &memosView{Title: "Memos of a project", Folder: folder, Runs: bank.UnreadRuns}
	if scope == memo.Global {
		view.Title = "Global memos"
	}
	for i := range slices.Backward(history) {
		m := memoOf(&history[i])
		if history[i].Current {
			view.Memos = append(view.Memos, m)
		}
		view.Versions = append(view.Versions, m)
	}
	view.Left, view.Older = max(0, len(view.Memos)-mostVersions), max(0, len(view.Versions)-mostVersions)
	view.Memos, view.Versions = view.Memos[:len(view.Memos)-view.Left], view.Versions[:len(view.Versions)-view.Older]
	view.SQL = []namedSQL{{"What runs have written into these memos", figures.MemosSQL(scope, projectOf(folder))}}
	return v.Show("memos", view.Title, view)
}

func memoOf(m *memories.Memo) memoVersion {
	return memoVersion{
		ID: m.ID, Version: m.Version, Text: excerpt.Clip(m.Text, mostMemo), Tags: m.Tags, At: m.At, Who: whoOf(m.Person, m.Session), Where: m.Key.String(),
		Command: m.Command, State: stateOf(m.Forgotten, m.Gone, m.Current, m.Imported), ReadBy: readersOf(m.ReadBy), Unread: m.Unread,
	}
}
