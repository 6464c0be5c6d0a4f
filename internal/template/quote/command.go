package quote

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value in a command is quoted as one word, which let, [[ x -eq 0 ]], $((...)), eval, sh -c,
// declare, printf -v and subscripts evaluate once more. So a shell parser reads the command with
// placeholders, and a value may stand only where the list below says that a word is a word: as an
// argument of a simple command that does not evaluate it, in a variable, in the list of for, in
// case, as the file of a redirect. What takes over from a value is held to the same. Numbers may
// stand anywhere.
//
// It is checked on the rendered text and, for authors, on each way through the template's tags.

// maxCommand is what Linux lets a command line have; the check takes memory with its nesting.
const maxCommand = 128 << 10

// placeholder is what stands for the value n.
func placeholder(n int) string { return fmt.Sprintf("windlass-value-%d", n) }

// misplacedError says why a value may not stand where it does.
type misplacedError struct {
	value int // which one; -1: a variable that holds one, or none in particular
	why   string
}

func (e *misplacedError) Error() string { return e.why }

const placedHint = "let the command read the value from its input or a file, or make it a number with the filter int"

var errUnreadable = errors.New("the command cannot be read as text of a shell")

// checkCommand checks a command in which placeholders in single quotes stand for so many values.
func checkCommand(command string, values int) error {
	if values == 0 {
		return nil
	}
	if len(command) > maxCommand {
		return &misplacedError{-1, fmt.Sprintf("the command is longer than %d bytes", maxCommand)}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	c := &commandCheck{found: map[string]bool{}, tainted: map[string]bool{}}
	for n := -1; n != len(c.tainted); { // what takes over from what has taken over, until nothing is new
		n = len(c.tainted)
		syntax.Walk(file, c.spread)
	}
	syntax.Walk(file, c.visit)
	if c.wrong != nil {
		return c.wrong
	}
	for i := range values {
		if !c.found[placeholder(i)] {
			return &misplacedError{i, "a value cannot stand here in a command"}
		}
	}
	return nil
}

type commandCheck struct {
	above   []syntax.Node // the node that is looked at, and those around it
	found   map[string]bool
	tainted map[string]bool // variables that hold a value, or something made of one
	wrong   error
}

// holds reports whether a node has a value in it, or a variable that holds one.
func (c *commandCheck) holds(n syntax.Node) bool {
	held := false
	if n == nil {
		return false
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			held = held || strings.HasPrefix(n.Value, "windlass-value-")
		case *syntax.ParamExp:
			held = held || n.Param != nil && c.tainted[n.Param.Value]
		}
		return !held
	})
	return held
}

// spread notes the variables that hold a value.
func (c *commandCheck) spread(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && (n.Value != nil && c.holds(n.Value) || n.Array != nil && c.holds(n.Array)) {
			c.tainted[n.Name.Value] = true
		}
	case *syntax.ForClause:
		if it, ok := n.Loop.(*syntax.WordIter); ok && (len(it.Items) == 0 || slices.ContainsFunc(it.Items, func(w *syntax.Word) bool { return c.holds(w) })) {
			c.tainted[it.Name.Value] = true
		}
	case *syntax.FuncDecl:
		c.positional()
	case *syntax.ParamExp:
		if n.Exp != nil && n.Exp.Word != nil && n.Param != nil && c.holds(n.Exp.Word) {
			c.tainted[n.Param.Value] = true
		}
	case *syntax.CallExpr:
		// What is read may be what another part of the command has printed.
		switch args := n.Args; name(args) {
		case "set":
			c.positional()
		case "read", "mapfile", "readarray", "getopts":
			for _, w := range args[1:] {
				c.tainted[w.Lit()] = true
			}
		case "printf":
			if len(args) > 2 && args[1].Lit() == "-v" {
				c.tainted[args[2].Lit()] = true
			}
		}
	}
	return true
}

// positional says that $1 and the like may hold a value.
func (c *commandCheck) positional() {
	for _, p := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"} {
		c.tainted[p] = true
	}
}

// name returns the name of the called command without its folder, "" when it is computed.
func name(args []*syntax.Word) string {
	if len(args) == 0 {
		return ""
	}
	text, ok := static(args[0])
	if !ok {
		return ""
	}
	return path.Base(text)
}

// static returns a word that says the same whatever the values are.
func static(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if p.Dollar || strings.HasPrefix(p.Value, "windlass-value-") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(l.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

func (c *commandCheck) visit(n syntax.Node) bool {
	if n == nil {
		c.above = c.above[:len(c.above)-1]
		return true
	}
	c.above = append(c.above, n)
	if c.wrong != nil {
		return true
	}
	switch n := n.(type) {
	case *syntax.SglQuoted:
		var value int
		if k, err := fmt.Sscanf(n.Value, "windlass-value-%d", &value); k == 1 && err == nil {
			c.found[n.Value] = true
			c.occurs(value)
		}
	case *syntax.ParamExp:
		if n.Param != nil && c.tainted[n.Param.Value] {
			c.variable(n)
		}
	case *syntax.Lit:
		if c.tainted[n.Value] && c.insideArithmetic() {
			c.refuse(-1, fmt.Sprintf("the variable %s holds a value, and arithmetic evaluates what is in it", n.Value))
		}
	case *syntax.CallExpr:
		c.call(n)
	}
	return true
}

func (c *commandCheck) refuse(value int, why string) {
	if c.wrong == nil {
		c.wrong = &misplacedError{value, why}
	}
}

func (c *commandCheck) variable(p *syntax.ParamExp) {
	if p.Excl || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		c.refuse(-1, fmt.Sprintf("the variable %s holds a value, and ${!...} and ${...@...} evaluate what is in it", p.Param.Value))
		return
	}
	c.occurs(-1)
}

func (c *commandCheck) insideArithmetic() bool {
	for i := len(c.above) - 2; i >= 0; i-- {
		switch c.above[i].(type) {
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop, *syntax.BinaryArithm, *syntax.UnaryArithm:
			return true
		case *syntax.CmdSubst, *syntax.Stmt:
			return false
		}
	}
	return false
}

// occurs checks every word that a value, or a variable with one, is part of, inside out.
func (c *commandCheck) occurs(value int) {
	for i := len(c.above) - 2; i >= 0; i-- {
		switch n := c.above[i].(type) {
		case *syntax.Word:
			if why := c.misplaced(i, n); why != "" {
				c.refuse(value, why)
				return
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
			c.refuse(value, inArithmetic)
			return
		case *syntax.DeclClause:
			c.refuse(value, fmt.Sprintf("a value cannot be an argument of %s, which evaluates it", n.Variant.Value))
			return
		case *syntax.ParamExp:
			c.refuse(value, "a value cannot stand inside ${...}")
			return
		case *syntax.CoprocClause, *syntax.TestDecl, *syntax.ExtGlob:
			c.refuse(value, "a value cannot stand here in a command")
			return
		}
	}
}

// misplaced says why the word at a depth may not hold a value where it stands.
func (c *commandCheck) misplaced(depth int, w *syntax.Word) string {
	if depth == 0 {
		return "a value cannot stand here in a command"
	}
	switch holder := c.above[depth-1].(type) {
	case *syntax.CallExpr:
		return c.argument(holder.Args, slices.Index(holder.Args, w))
	case *syntax.Assign:
		return c.assigned(depth-1, holder)
	case *syntax.WordIter, *syntax.CaseClause, *syntax.CaseItem:
		return ""
	case *syntax.Redirect:
		return redirected(holder, w)
	case *syntax.UnaryTest:
		if holder.Op == syntax.TsEmpStr || holder.Op == syntax.TsNempStr || holder.Op == syntax.TsExists || holder.Op == syntax.TsRegFile || holder.Op == syntax.TsDirect {
			return ""
		}
		return fmt.Sprintf("a value cannot be compared by %s in [[ ]], which may evaluate it", holder.Op)
	case *syntax.BinaryTest:
		switch holder.Op {
		case syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsBefore, syntax.TsAfter:
			return ""
		}
		return fmt.Sprintf("a value cannot be compared by %s in [[ ]], which evaluates it", holder.Op)
	}
	if c.insideArithmetic() {
		return inArithmetic
	}
	return "a value cannot stand here in a command"
}

const inArithmetic = "a value cannot stand in arithmetic: a shell evaluates it, and runs what is in it"

func redirected(r *syntax.Redirect, w *syntax.Word) string {
	if r.Hdoc == w {
		return "" // A variable there: what reads the text is checked as a command.
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.WordHdoc:
		return ""
	}
	return fmt.Sprintf("a value cannot stand after %s", r.Op)
}

// guiding are variables that decide what programs run. Names that end with _ are beginnings.
var guiding = []string{
	"PATH", "IFS", "ENV", "BASH_ENV", "BASH_FUNC_", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "CDPATH", "SHELL",
	"LD_", "DYLD_", "GIT_", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER", "NODE_OPTIONS", "PYTHONSTARTUP",
	"PYTHONPATH", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "MAKEFLAGS", "GOFLAGS", "CC", "CXX", "RUSTC_WRAPPER", "HOME",
}

func (c *commandCheck) assigned(depth int, a *syntax.Assign) string {
	if d, ok := c.above[depth-1].(*syntax.DeclClause); ok {
		return fmt.Sprintf("a value cannot be an argument of %s, which evaluates it", d.Variant.Value)
	}
	if _, ok := c.above[depth-1].(*syntax.CallExpr); !ok || a.Name == nil || a.Index != nil {
		return "a value cannot stand in this assignment, which may evaluate it"
	}
	for _, g := range guiding {
		if a.Name.Value == g || strings.HasSuffix(g, "_") && strings.HasPrefix(a.Name.Value, g) {
			return fmt.Sprintf("a value cannot be put into the variable %s, which decides what is run", a.Name.Value)
		}
	}
	return ""
}
