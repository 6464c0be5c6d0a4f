package syntax

// Stmt is a part of a template that is rendered: one of the types up to [Macro].
type Stmt interface{ Place() Pos }

// Block is what stands between two tags.
type Block []Stmt

// Text is what stands outside of tags. It is never empty.
type Text struct {
	Pos
	Text string
}

// Comment is {# #}.
type Comment struct{ Pos }

// Output is {{ x }}, or {{ x if when else otherwise }}.
type Output struct {
	Pos
	X    Expr
	Raw  bool // the last filter is raw: the value is written as it is, whatever kind of text it stands in
	When Expr // may be nil
	Else *Output

	// Style says how the value is written. The parser leaves it 0, template/quote sets it.
	Style uint8
}

// If is {% if %}.
type If struct {
	Pos
	Arms []Arm
	Else Block // nil: none
}

// Arm is a body with the condition on which it is rendered.
type Arm struct {
	When Expr
	Body Block
}

// For is {% for %}.
type For struct {
	Pos
	Names    []string // one or two
	List     Expr
	When     Expr // may be nil
	Body     Block
	Else     Block // nil: none
	UsesLoop bool  // the body mentions the variable loop of this tag
}

// Set is {% set %}.
type Set struct {
	Pos
	Name   string
	Member string // of the namespace Name; may be empty
	Value  Expr   // nil: the text of Body
	Body   Block
}

// With is {% with %}, and {% raw %} with the text in it.
type With struct {
	Pos
	Names  []string
	Values []Expr
	Body   Block
}

// Macro is {% macro %}.
type Macro struct {
	Pos
	Name     string
	Params   []string
	Defaults []Expr // nil: the parameter must be given
	Body     Block
}

// Expr is an expression. Its place is where errors about its value are reported.
type Expr interface{ Place() Pos }

// Literal is a constant: nil, a bool, int64, float64 or string.
type Literal struct {
	Pos
	Value any
}

// Lookup is a variable or a value, with the members and items taken of it: input.a["b"][0].
type Lookup struct {
	Pos
	Name  string
	Base  Expr // instead of Name
	Steps []Step
}

// Step takes one member or item.
type Step struct {
	Pos
	Key   string // of a member
	Index Expr   // of an item, instead of Key
}

// Slice is x[from:to:by]; what is not given is nil.
type Slice struct {
	Pos
	X            Expr
	From, To, By Expr
}

// List is [a, b], or (a, b).
type List struct {
	Pos
	Items []Expr
}

// Object is {"a": b}.
type Object struct {
	Pos
	Keys, Values []Expr
}

// Binary is a op b. The operators are or, and, in, and those that are written with signs.
type Binary struct {
	Pos
	Op   string
	A, B Expr
}

// Not is not a.
type Not struct {
	Pos
	X Expr
}

// Sign is -a or +a.
type Sign struct {
	Pos
	X        Expr
	Negative bool
}

// Choice is a if b else c; without else it is empty.
type Choice struct {
	Pos
	When, Then, Else Expr // Else may be nil
}

// Filter is a | name(...).
type Filter struct {
	Pos
	X    Expr
	Name string
	Args
}

// Default is a | default(instead, falsy): the one filter that is shown a variable that is missing.
type Default struct {
	Pos
	X       Expr
	Instead Expr
	Falsy   Expr // also instead of empty values; may be nil
}

// Test is a is name(...).
type Test struct {
	Pos
	X    Expr
	Name string
	Args
}

// Call calls a macro, or a function of the dialect.
type Call struct {
	Pos
	Name string
	Args
}

// Method is x.name(...).
type Method struct {
	Pos
	X    Expr
	Name string
	Args
}

// Args are arguments by place and by name.
type Args struct {
	List  []Expr
	Named []Named
}

// Named is an argument by name.
type Named struct {
	Name string
	X    Expr
}
