// Package toolset has the tools that a phase can call: the engine's own, declared ones, and cascades.
package toolset
