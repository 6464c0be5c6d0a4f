package overview

import (
	"net/url"
	"time"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// memoryView is the screen of all banks and memos.
type memoryView struct {
	Banks []bankRow
	Memos []memoRow
	Runs  int // after how many runs something counts as unread
	SQL   []namedSQL
}

type bankRow struct {
	Bank                          page.Link
	Folder                        string
	Files, Bytes, Versions, Texts int
	Sessions                      int
	Written                       *time.Time
	Unread                        []string
	More                          int
	Idle                          string
	Error                         string
}

type memoRow struct {
	memories.MemoFile
	Link page.Link
}

// fieldProject is the project folder of a bank, in the address.
const fieldProject = "project"

// memosOf begins the part of an address that stands for memos: no bank has such a name.
const memosOf = "memos:"

func pathOfBank(name, folder string) string {
	address := pathMemory + "/" + url.PathEscape(name)
	if folder == "" {
		return address
	}
	return address + "?" + url.Values{fieldProject: {folder}}.Encode()
}

// mostUnread is how many files of a bank that nobody reads are named.
const mostUnread = 3

func (x *overview) memory(v *page.Visit) error {
	banks, err := memories.Open(x.Archive.Home, "", "").List(true)
	if err != nil {
		return err
	}
	files, err := memories.MemoFiles(x.Archive.Home)
	if err != nil {
		return err
	}
	view := &memoryView{Runs: bank.UnreadRuns, SQL: []namedSQL{{"What runs have written, and who was told of it", figures.MemorySQL}}}
	for i := range banks {
		view.Banks = append(view.Banks, bankRowOf(&banks[i]))
	}
	for i := range files {
		f := &files[i]
		row := memoRow{*f, page.Link{Title: "Memos of a project", Path: pathOfBank(memosOf+f.Scope, f.Folder)}}
		if f.Scope == memo.Global {
			row.Link.Title = "Global memos"
		}
		if f.Error != "" {
			row.Link.Path = ""
		}
		view.Memos = append(view.Memos, row)
	}
	return v.Show("memory", "Memory", view)
}

func bankRowOf(b *memories.Listed) bankRow {
	row := bankRow{
		Bank: page.Link{Title: b.Bank, Path: pathOfBank(b.Bank, b.Folder)}, Folder: b.Folder, Files: b.Files, Bytes: b.Bytes, Versions: b.Versions, Texts: b.Texts,
		Sessions: b.Sessions, Written: b.Written, Unread: b.Unread[:min(len(b.Unread), mostUnread)], More: max(0, len(b.Unread)-mostUnread), Error: b.Error,
	}
	if b.Idle > 0 {
		row.Idle = quantity.Of(b.Idle, "remembered text")
	}
	if b.Error != "" {
		row.Bank.Path = ""
	}
	return row
}

// listed returns a bank by its name and its project folder, as the list has it.
func (x *overview) listed(name, folder string) (*memories.Listed, error) {
	if err := memory.CheckName(name); err != nil {
		return nil, page.Missing("There is no bank with this name.")
	}
	banks, err := memories.Open(x.Archive.Home, "", "").List(true)
	if err != nil {
		return nil, err
	}
	for i := range banks {
		if banks[i].Bank == name && banks[i].Folder == folder {
			return &banks[i], nil
		}
	}
	return nil, page.Missing("There is no bank %s of this project.", name)
}
