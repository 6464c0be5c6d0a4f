package architecture

import (
	"bytes"
	"encoding/json"
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
	"testing"

	"github.com/stretchr/testify/require"
)

// checked are packages with the types of everything in them. What they import comes from the export data of the compiler.
type checked struct {
	fset     *token.FileSet
	importer types.Importer
	packages []*checkedPackage
}

type checkedPackage struct {
	path  string // without the module
	files []*ast.File
	info  *types.Info
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// checkModule checks the types of every package of the module, without its tests.
func checkModule(t *testing.T) *checked {
	t.Helper()
	packages := listPackages(t)
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	c := &checked{fset: token.NewFileSet()}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		if path, ours := strings.CutPrefix(p.ImportPath, module); ours {
			var files []string
			for _, name := range p.GoFiles {
				files = append(files, filepath.Join(p.Dir, name))
			}
			c.packages = append(c.packages, c.check(t, path, files...))
		}
	}
	require.Greater(t, len(c.packages), 30, "the listing of packages came back too short to mean anything")
	return c
}

// listPackages lists the packages of the module and all that they import, each with a file of its export data.
func listPackages(t *testing.T) []listed {
	t.Helper()
	var failed bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", module+"...")
	cmd.Stderr = &failed
	out, err := cmd.Output()
	require.NoError(t, err, failed.String())
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func (c *checked) check(t *testing.T, path string, names ...string) *checkedPackage {
	t.Helper()
	p := &checkedPackage{path: path, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, name := range names {
		f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		p.files = append(p.files, f)
	}
	conf := types.Config{Importer: c.importer}
	_, err := conf.Check(module+path, c.fset, p.files, p.info)
	require.NoError(t, err)
	return p
}

// at returns where a node stands: the file without its folder, and the line.
func (c *checked) at(n ast.Node) (file string, line int) {
	p := c.fset.Position(n.Pos())
	return filepath.Base(p.Filename), p.Line
}

// functions calls visit with every declaration of a package, by a name such as "engine.comparable" or
// "engine.(run).append"; what is declared outside of functions has the name of the package.
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
