// Package template is the restricted Jinja dialect of cascades: a template is a text with {{ expressions }} and
// {% tags %} over plain JSON-like values.
//
// gonja reads the syntax; what a template may do is decided here, by an evaluator of our own over gonja's tree. It
// works on JSON values only and never reaches a file, a Go method or a clock, so a template is a pure function of its
// variables. Its work, its output and the depth of its nesting are bounded, and a variable that is not there is an
// error, not an empty string.
//
// A template is made for one kind of text ([Mode]). In a command line, a URL or a JSON document every interpolated
// value is quoted as that kind of text needs, unless the filter "raw" says otherwise.
//
// The package imports nothing else of windlass.
package template
