// Package web has the libraries that browsers get, as their makers have published them. vendor.sh fetches them; a test holds
// each against its checksum.
package web

import (
	"embed"
	"io/fs"

	"github.com/windlass-run/windlass/internal/server/page"
)

//go:embed uplot
var files embed.FS

// name is the folder of the libraries on the page.
const name = "web"

// Screens offer the files. They have no pages.
func Screens() page.Screens {
	flat, err := fs.Sub(files, "uplot")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return page.Screens{Name: name, Files: flat}
}

// The addresses of uPlot, which draws charts.
const (
	ChartScript = "/page/" + name + "/uPlot.iife.min.js"
	ChartStyle  = "/page/" + name + "/uPlot.min.css"
)

// EditorScript is the address of the editor of texts, which makes the global windlassEditor.
const EditorScript = "/page/" + name + "/editor.min.js"
