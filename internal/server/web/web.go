// Package web has the libraries that browsers get, as their makers have published them: those of the editor in one file, made
// of codemirror/editor.mjs. vendor.sh fetches them; a test holds each file against its checksum.
package web

import (
	"embed"
	"io/fs"

	"github.com/windlass-run/windlass/internal/server/page"
)

//go:embed uplot/uPlot* codemirror/editor.min.js
var files embed.FS

// name is the folder of the libraries on the page.
const name = "web"

// Screens offer the files. They have no pages.
func Screens() page.Screens {
	var all folders
	for _, dir := range []string{"uplot", "codemirror"} {
		one, err := fs.Sub(files, dir)
		if err != nil {
			panic(err) // the folder is embedded above
		}
		all = append(all, one)
	}
	return page.Screens{Name: name, Files: all}
}

// folders are the files of several folders as those of one.
type folders []fs.FS

// Open implements [fs.FS]. The first folder that has a file counts.
func (f folders) Open(name string) (file fs.File, err error) {
	err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	for _, one := range f {
		if file, err = one.Open(name); err == nil {
			break
		}
	}
	return file, err
}

// The addresses of uPlot, which draws charts.
const (
	ChartScript = "/page/" + name + "/uPlot.iife.min.js"
	ChartStyle  = "/page/" + name + "/uPlot.min.css"
)

// EditorScript is the address of the editor of texts, which makes the global windlassEditor.
const EditorScript = "/page/" + name + "/editor.min.js"
