package architecture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// checked are the packages of the module, with the types of everything in them. They share their
// objects: a field that one package declares is the same object where another one uses it. Other
// packages come from the export data of the compiler.
type checked struct {
	fset     *token.FileSet
	packages []*checkedPackage
	types    map[string]*types.Package // of the module, by import path
	foreign  types.Importer
}

type checkedPackage struct {
	path  string // without the module
	files []*ast.File
	info  *types.Info
	types *types.Package
}

// Import implements [types.Importer].
func (c *checked) Import(path string) (*types.Package, error) {
	if p := c.types[path]; p != nil {
		return p, nil
	}
	return c.foreign.Import(path)
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// wholeModule returns every package of the module, without its tests.
func wholeModule(t *testing.T) *checked {
	t.Helper()
	c, err := checkModule()
	require.NoError(t, err)
	require.Greater(t, len(c.packages), 30, "the listing of packages came back too short to mean anything")
	return c
}

var checkModule = sync.OnceValues(func() (*checked, error) {
	packages, err := listPackages()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	c := &checked{fset: token.NewFileSet(), types: map[string]*types.Package{}}
	c.foreign = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages { // each comes after what it imports
		path, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		var files []string
		for _, name := range p.GoFiles {
			files = append(files, filepath.Join(p.Dir, name))
		}
		one, err := c.check(path, files...)
		if err != nil {
			return nil, err
		}
		c.packages, c.types[p.ImportPath] = append(c.packages, one), one.types
	}
	return c, nil
})

// listPackages lists the packages of the module and all that they import, each with a file of its
// export data.
func listPackages() ([]listed, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", module+"...").Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("go list: %w: %s", err, failed.Stderr)
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var p listed
		if err = dec.Decode(&p); err == nil {
			packages = append(packages, p)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return packages, err
}

// check checks the types of a package.
func (c *checked) check(path string, names ...string) (*checkedPackage, error) {
	p := &checkedPackage{path: path, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
	}}
	for _, name := range names {
		f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	conf := types.Config{Importer: c}
	var err error
	p.types, err = conf.Check(module+path, c.fset, p.files, p.info)
	return p, err
}

// at returns the place of a node: the file without its folder, and the line.
func (c *checked) at(n ast.Node) (file string, line int) {
	p := c.fset.Position(n.Pos())
	return filepath.Base(p.Filename), p.Line
}

// functions calls visit with every declaration of a package, by a name such as "engine.comparable"
// or "engine.(run).append"; what is declared outside of functions has the name of the package.
func (p *checkedPackage) functions(visit func(name string, d ast.Decl)) {
	for _, f := range p.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
				visit(p.path, d)
			case fn.Recv == nil:
				visit(p.path+"."+fn.Name.Name, d)
			default:
				visit(p.path+".("+receiver(fn.Recv.List[0].Type)+")."+fn.Name.Name, d)
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
