// Package cascade is the language: the types of a cascade file, and [Load], which returns a sound
// [Cascade] or everything that is wrong with the file.
package cascade
