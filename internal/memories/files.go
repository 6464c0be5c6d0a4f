package memories

import (
	"time"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/memofile"
)

// MemoFile is the memos of one project folder, or the global ones, in a list.
type MemoFile struct {
	Scope    string     `json:"scope"`
	Folder   string     `json:"folder,omitempty"` // of the project
	Memos    int        `json:"memos"`            // as they are now
	Versions int        `json:"versions"`
	Written  *time.Time `json:"written,omitempty"`
	Unread   int        `json:"unread"`          // memos that none of the newest runs was told of
	Error    string     `json:"error,omitempty"` // why the file cannot be read
}

// MemoFiles returns the files of memos of every project of a home, and the global one. One that cannot be read is in the list
// with its error.
func MemoFiles(home string) ([]MemoFile, error) {
	found, err := memofile.Find(home)
	out := make([]MemoFile, len(found))
	for i, f := range found {
		out[i] = MemoFile{Scope: memo.Project, Folder: f.Folder}
		if f.Err == nil {
			f.Err = out[i].sum(home)
		}
		if f.Err != nil {
			out[i].Error = f.Err.Error()
		}
	}
	return out, err
}

func (m *MemoFile) sum(home string) error {
	if m.Folder == "" {
		m.Scope = memo.Global
	}
	h, err := memofile.Open(home, m.Folder, nil).Read(m.Scope)
	if err != nil {
		return err
	}
	m.Memos, m.Unread = len(h.Now()), len(h.Unread(bank.UnreadRuns))
	versions := h.Versions("")
	m.Versions = len(versions)
	for _, v := range versions {
		if at := v.Origin().At; m.Written == nil || at.After(*m.Written) {
			m.Written = &at
		}
	}
	return nil
}
