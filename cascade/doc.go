// Package cascade is the language: the types of a cascade file, and [Load], which gives either a sound [Cascade] or all
// that is wrong with the file, each problem with its place, the source line and a hint.
package cascade
