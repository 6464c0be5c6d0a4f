package grants

import (
	"bytes"
	"io/fs"
	"path"
	"time"

	"github.com/windlass-run/windlass/cascade/library"
)

// overlay are the files of a folder with another text in the place of that of one file.
type overlay struct {
	fs.FS
	name string
	text []byte
}

// over returns the trees with a text in the place of that of a file of one of them, and that one. It has no name, as if it were
// the working folder.
func over(trees library.Trees, of *library.Tree, name string, text []byte) (library.Trees, *library.Tree) {
	with := *of
	with.FS, with.Name = overlay{of.FS, name, text}, ""
	out := make(library.Trees, len(trees))
	for i, t := range trees {
		out[i] = t
		if t == of {
			out[i] = &with
		}
	}
	return out, &with
}

// Open implements [fs.FS].
func (o overlay) Open(name string) (fs.File, error) {
	if name != o.name {
		return o.FS.Open(name)
	}
	return &draft{overlay: o, Reader: bytes.NewReader(o.text)}, nil
}

// Stat implements [fs.StatFS].
func (o overlay) Stat(name string) (fs.FileInfo, error) {
	if name != o.name {
		return fs.Stat(o.FS, name)
	}
	return &draft{overlay: o}, nil
}

// draft is the text as an open file, and what there is to say of it. It changed just now, so that no search keeps its id.
type draft struct {
	overlay
	*bytes.Reader
}

func (d *draft) Stat() (fs.FileInfo, error) { return d, nil }
func (d *draft) Close() error               { return nil }
func (d *draft) Name() string               { return path.Base(d.name) }
func (d *draft) Size() int64                { return int64(len(d.text)) }
func (d *draft) Mode() fs.FileMode          { return 0o400 }
func (d *draft) ModTime() time.Time         { return time.Now() }
func (d *draft) IsDir() bool                { return false }
func (d *draft) Sys() any                   { return nil }
