// Package template is the restricted Jinja dialect of cascades: a template is a text with {{
// expressions }} and {% tags %} over plain JSON-like values.
//
// A template works on JSON values only and never reaches a file, a Go method or a clock, so it is a
// pure function of its variables. Its work, its output and the depth of its nesting are bounded,
// and a variable that is not there is an error, not an empty string.
//
// A template is made for one kind of text ([Mode]). In a command line, a URL or a JSON document
// every interpolated value is quoted as that kind of text needs, unless the filter "raw" says
// otherwise.
//
// This package evaluates. The language is read by template/syntax, values and their filters are
// template/value, and what stands where in a command, a URL or a JSON document is decided by
// template/quote. None of them imports anything else of windlass.
package template
