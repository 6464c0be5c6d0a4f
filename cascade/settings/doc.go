// Package settings has the settings of context: what a file says of it, the defaults, and both merged,
// field by field.
package settings
