package app

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/filetype"
)

// FileInputError says that an input is a file and was given as a value.
type FileInputError struct {
	Input string
	Takes string // as "images (png)"
}

func (e *FileInputError) Error() string {
	return fmt.Sprintf("the input %q takes a file (%s), not a value", e.Input, e.Takes)
}

// NoImagesError says that a phase would send an image to a model that is known to take none.
type NoImagesError struct{ Phase, Input, Type, Model string }

func (e *NoImagesError) Error() string {
	return fmt.Sprintf("phase %q sends the input %q (%s) to %s, which is known to take texts only", e.Phase, e.Input, e.Type, e.Model)
}

// SecretFileError says that a file has a known secret.
type SecretFileError struct{ Input string }

func (e *SecretFileError) Error() string {
	return fmt.Sprintf("the file of the input %q has the value of a known secret: it is neither sent nor recorded", e.Input)
}

// checkFiles checks the files of the input: that what the cascade declares as a file was given as one,
// that no secret leaves with it, and that the models that are sent it are not known to refuse it.
func (o *opening) checkFiles() error {
	c := o.run.cascade
	kinds := c.FileInputs()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if _, given := o.run.input[name]; !given {
			continue
		}
		i := slices.IndexFunc(o.run.started.Files, func(f engine.File) bool { return f.Input == name })
		if i < 0 {
			return failure.New(failure.InvalidInput, &FileInputError{name, kinds[name].String()}, "")
		}
		if err := o.checkFile(&o.run.started.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *opening) checkFile(f *engine.File) error {
	if o.run.secrets.Has(f.URL) {
		return failure.New(failure.InvalidInput, &SecretFileError{f.Input}, "")
	}
	if !filetype.Image.Takes(f.Type) {
		return nil // some endpoints read PDFs for models that take texts only
	}
	c := o.run.cascade
	for p := range c.EachPhase() {
		if !o.sends(p, f.Input) {
			continue
		}
		own := modelOf(p, o.runner)
		for _, model := range append([]string{own}, fallbackOf(c, p, own, o.config)...) {
			if o.router.TakesNoImages(model) {
				return failure.New(failure.InvalidRequest, &NoImagesError{p.Name, f.Input, f.Type, model}, "")
			}
		}
	}
	return nil
}

// sends reports whether a phase may send a file to its model: whether its instructions use the input, or
// the input is added below them.
func (o *opening) sends(p *cascade.Phase, input string) bool {
	if p.Deterministic() {
		return false
	}
	if inputName.MatchString(p.Instructions) {
		return strings.Contains(p.Instructions, input) || p.Context != nil && p.Context.IncludeInput != nil && *p.Context.IncludeInput
	}
	if p.Context != nil && p.Context.IncludeInput != nil {
		return *p.Context.IncludeInput
	}
	inter := o.run.started.Off.Inter(o.run.cascade.EffectiveInter(p))
	return !inter.Enabled || slices.Contains(inter.Anchors.Include, cascade.AnchorInput)
}

// inputName finds the variable in a template, or what may be it.
var inputName = regexp.MustCompile(`\binput\b`)
