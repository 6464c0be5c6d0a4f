package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
	"github.com/windlass-run/windlass/internal/memofile"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// MemoryFile is the file of a bank of memory, or one of memos.
type MemoryFile struct {
	File    string `json:"file"`
	Entries int    `json:"entries"`
	Left    int64  `json:"left,omitempty"`  // bytes of a line that was not written to its end: the next write takes them away
	Error   string `json:"error,omitempty"` // why it cannot be read
	Try     string `json:"try,omitempty"`   // what to do then
}

// examineMemory reads all banks and memos of a home. What is wrong with a file is in its row.
func examineMemory(home string) (out []MemoryFile, err error) {
	banks, wrong := bank.Check(home)
	memos, wrongToo := memofile.Check(home)
	for _, h := range append(banks, memos...) {
		out = append(out, memoryFile(&h))
	}
	return out, errors.Join(wrong, wrongToo)
}

func memoryFile(h *ledger.Health) MemoryFile {
	f := MemoryFile{File: h.Path, Entries: h.Entries, Left: h.Left}
	if h.Err == nil {
		return f
	}
	f.Error, f.Left = h.Err.Error(), 0
	f.Try = "see that you may read the file, and that it is one"
	if known, ok := errors.AsType[*failure.Error](h.Err); ok && known.Try != "" {
		f.Try = known.Try
	}
	return f
}

// memoryFindings adds how many files there are, and a row for each that is not as it should be.
func memoryFindings(t *term.Table, files []MemoryFile) {
	wrong := 0
	for _, f := range files {
		if f.Error != "" {
			wrong++
		}
	}
	switch {
	case len(files) == 0:
		return
	case wrong == 0:
		t.Add("banks and memos", quantity.Of(len(files), "file")+": all can be read")
	default:
		t.Add("banks and memos", fmt.Sprintf("%s, of which %d cannot be read", quantity.Of(len(files), "file"), wrong))
	}
	for _, f := range files {
		name := "  " + strings.TrimSuffix(filepath.Base(f.File), filepath.Ext(f.File))
		switch {
		case f.Error != "":
			t.Add(name, f.Error+". Try: "+f.Try)
		case f.Left > 0:
			t.Add(name, fmt.Sprintf("%s can be read; it ends in %s of a line that was not written to its end, which the next write takes away", f.File, quantity.Of(int(f.Left), "byte")))
		}
	}
}
