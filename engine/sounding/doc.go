// Package sounding has what several tries of a phase are made of: how each differs from the phase, what
// they are told, what they share with each other, and when another one is added. It asks no model and
// records nothing.
package sounding
