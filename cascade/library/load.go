package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/quantity"
)

// maxReached bounds the files that one cascade reaches.
const maxReached = 1000

// loader loads a cascade and what it reaches, each file once.
type loader struct {
	ctx     context.Context //nolint:containedctx // a loader lives as long as one call
	known   cascade.Known
	world   world
	nodes   map[string]*node  // by identity
	shelves map[string]*shelf // by the key of the folder
	chain   []*node           // the files that are being loaded, each named by the one before
}

// node is a file that was reached.
type node struct {
	at       location
	shown    string
	loading  bool
	reached  *cascade.Reached
	own      cascade.Diagnostics
	err      error
	broken   map[string]*node // by the message that says so where it is named
	ends     map[string]bool  // the messages that say that a circle, or a chain that is too long, ends in the file
	endless  bool             // nothing else is wrong with it and with those below it
	children []*node          // in the order in which they are named
	longest  *node            // the one with the longest chain below
	height   int              // of that chain
}

func newLoader(ctx context.Context, known cascade.Known, w world) *loader {
	return &loader{ctx: ctx, known: known, world: w, nodes: map[string]*node{}, shelves: map[string]*shelf{}}
}

// open loads the file that everything begins with.
func (l *loader) open(at location) (*cascade.Cascade, cascade.Diagnostics, error) {
	n := &node{at: at, shown: at.path}
	l.nodes[l.world.identity(at)] = n
	l.load(n, func(known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
		return l.world.load(l.ctx, at, known)
	})
	return n.result()
}

// openText is open for a text that stands for a file.
func (l *loader) openText(name string, data []byte) (*cascade.Cascade, cascade.Diagnostics, error) {
	n := &node{at: location{path: name}, shown: name}
	l.load(n, func(known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
		return cascade.ParseContext(l.ctx, name, data, known)
	})
	return n.result()
}

// find finds what a file names by a name that it does not have itself.
func (l *loader) find(from location, ref string) (*cascade.Reached, error) {
	n := &node{at: from, shown: from.path}
	r, problem := l.resolve(n, ref)
	if err := l.ctx.Err(); err != nil {
		return nil, fmt.Errorf("find the cascade %q: %w", ref, err)
	}
	if problem == nil {
		return r, nil
	}
	e := &NameError{Ref: ref, Message: problem.Message, Hint: problem.Hint}
	if child := n.broken[problem.Message]; child != nil {
		e.Found = child.all()
	}
	return nil, e
}

func (l *loader) load(n *node, parse func(cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error)) {
	known := l.known
	known.Resolve = func(ref string) (*cascade.Reached, *cascade.Problem) { return l.resolve(n, ref) }
	n.loading = true
	l.chain = append(l.chain, n)
	var c *cascade.Cascade
	c, n.own, n.err = parse(known)
	l.chain = l.chain[:len(l.chain)-1]
	n.loading = false
	n.endless = n.onlyEnds()
	if n.err == nil {
		n.reached = &cascade.Reached{Cascade: c, Hash: Hash(c)}
	}
}

// resolve is [cascade.Known.Resolve] for the names of a file.
func (l *loader) resolve(n *node, ref string) (*cascade.Reached, *cascade.Problem) {
	at, problem := l.locate(n.at, ref)
	if problem != nil {
		return nil, problem
	}
	id := l.world.identity(at)
	child := l.nodes[id]
	switch {
	case child == nil && len(l.chain) > cascade.MaxDepth:
		return nil, n.end(tooDeep(append(l.names(), at.path)))
	case child == nil && len(l.nodes) > maxReached:
		return nil, &cascade.Problem{Message: fmt.Sprintf("more than %d other cascades are reached", maxReached), Hint: "divide the work"}
	case child == nil:
		child = &node{at: at, shown: at.path}
		l.nodes[id] = child
		l.load(child, func(known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
			return l.world.load(l.ctx, at, known)
		})
	case child.loading:
		return nil, n.end(cycle(l.names()[slices.Index(l.chain, child):]))
	}
	if len(l.chain)+child.height > cascade.MaxDepth {
		return nil, n.end(tooDeep(append(l.names(), child.names()...)))
	}
	return l.reach(n, child)
}

// reach notes that one file reaches another, and returns that.
func (l *loader) reach(n, child *node) (*cascade.Reached, *cascade.Problem) {
	if !slices.Contains(n.children, child) {
		n.children = append(n.children, child)
	}
	if child.err != nil {
		problem := child.problem()
		if n.broken == nil {
			n.broken = map[string]*node{}
		}
		n.broken[problem.Message] = child
		return nil, problem
	}
	if child.height+1 > n.height {
		n.longest, n.height = child, child.height+1
	}
	child.reached.File = l.world.recorded(child.at)
	return child.reached, nil
}

func (l *loader) locate(from location, ref string) (location, *cascade.Problem) {
	if IsPath(ref) && !strings.ContainsRune(ref, 0) {
		return l.world.file(from, ref)
	}
	return l.search(from, ref)
}

// names are the files that are being loaded.
func (l *loader) names() []string {
	var names []string
	for _, n := range l.chain {
		names = append(names, n.shown)
	}
	return names
}

// names are the files of the longest chain from here.
func (n *node) names() []string {
	var names []string
	for ; n != nil; n = n.longest {
		names = append(names, n.shown)
	}
	return names
}

func cycle(names []string) *cascade.Problem {
	return &cascade.Problem{
		Message: fmt.Sprintf("the cascade %s would run below itself: %s", names[0], strings.Join(append(names, names[0]), " -> ")),
		Hint:    "a cascade cannot run below itself; a phase that is to run again has a hand-off to itself, or for_each",
	}
}

func tooDeep(names []string) *cascade.Problem {
	return &cascade.Problem{
		Message: fmt.Sprintf("cascades run at most %d deep below the first: %s", cascade.MaxDepth, strings.Join(names, " -> ")),
		Hint:    "let one of them do the work of the one below it",
	}
}

// end notes that a circle, or a chain that is too long, ends in the file.
func (n *node) end(p *cascade.Problem) *cascade.Problem {
	if n.ends == nil {
		n.ends = map[string]bool{}
	}
	n.ends[p.Message] = true
	return p
}

// onlyEnds reports whether all that is wrong with a file is that circles or chains end in it or below
// it. A file that names it is part of them, and the one error of each shows it whole.
func (n *node) onlyEnds() bool {
	var invalid *cascade.InvalidError
	if !errors.As(n.err, &invalid) {
		return false
	}
	return !slices.ContainsFunc(n.own, func(d cascade.Diagnostic) bool {
		if d.Severity != cascade.SeverityError {
			return false
		}
		for message := range n.ends {
			if strings.HasSuffix(d.Message, message) {
				return false
			}
		}
		child := n.brokenBy(d)
		return child == nil || !child.endless
	})
}

// brokenBy returns the file that is not valid by what was found; nil for another finding.
func (n *node) brokenBy(d cascade.Diagnostic) *node {
	for message, child := range n.broken {
		if strings.HasSuffix(d.Message, message) {
			return child
		}
	}
	return nil
}

// problem says, where a file is named, that something is wrong with it.
func (n *node) problem() *cascade.Problem {
	var invalid *cascade.InvalidError
	if !errors.As(n.err, &invalid) {
		err := n.err
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		return &cascade.Problem{Message: fmt.Sprintf("the cascade %s cannot be read: %v", n.shown, err), Hint: "check that it is a file that may be read"}
	}
	errs, _ := n.own.Count()
	return &cascade.Problem{
		Message: fmt.Sprintf("the cascade %s is not valid: it has %s", n.shown, quantity.Of(errs, "error")),
		Hint:    "mend what is reported of it",
	}
}

// result is what is returned of the first file.
func (n *node) result() (*cascade.Cascade, cascade.Diagnostics, error) {
	found := n.all()
	var invalid *cascade.InvalidError
	switch {
	case errors.As(n.err, &invalid):
		return nil, found, &cascade.InvalidError{File: invalid.File, Diagnostics: found}
	case n.err != nil:
		return nil, found, n.err
	}
	return n.reached.Cascade, found, nil
}

// all returns what was found in a file, and in those that it reaches below the place that names them;
// what is only warned of comes last. Each file is reported once.
func (n *node) all() cascade.Diagnostics {
	r := &report{nodes: map[*node]bool{}, said: map[string]bool{}}
	r.add(n)
	return r.found
}

// report puts together what was found in files.
type report struct {
	found cascade.Diagnostics
	nodes map[*node]bool
	said  map[string]bool // a tool file belongs to all cascades beside it
}

func (r *report) add(n *node) {
	if r.nodes[n] {
		return
	}
	r.nodes[n] = true
	for _, d := range n.own {
		child := n.brokenBy(d)
		if text := d.String(); !r.said[text] && (child == nil || !child.endless) {
			r.said[text] = true
			r.found = append(r.found, d)
		}
		if child != nil {
			r.add(child)
		}
	}
	for _, child := range n.children {
		r.add(child)
	}
}
