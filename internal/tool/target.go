package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/internal/protection"
	"github.com/windlass-run/windlass/internal/source"
)

// newFileMode is the mode of a file that a tool makes, before the umask.
const newFileMode = 0o644

// writing is held from the first look at a path until it is written: what was checked is written,
// also when calls run in parallel that add to one file, or make one folder.
var writing sync.Mutex

// target is the file to write, with its path's links followed: opened folders, names of those to
// make, and the file's. What is checked is the path of these very folders; links put into it
// afterwards change nothing. Tools write in no other way.
type target struct {
	files   *folders
	place   place
	opened  []step // the granted folder, and what is opened of the path below it
	missing []string
	base    string
}

// step is a folder of a path.
type step struct {
	name string // "" for the granted folder
	root *os.Root
	info fs.FileInfo
}

// maxLinks is how many links a path may have, as on other systems.
const maxLinks = 40

var (
	errEscapes = errors.New("path escapes from its folder")
	errChanged = errors.New("it was changed while it was written; try again")
)

// target follows the path of a file to its folder.
func (f *folders) target(p place) (t *target, err error) {
	t = &target{files: f, place: p, base: filepath.Base(p.name), opened: []step{{root: p.folder.Root, info: p.folder.info}}}
	if p.name == "." {
		return nil, fmt.Errorf("write %s: it is a folder", p.show)
	}
	if err := t.follow(strings.Split(filepath.Dir(p.name), string(filepath.Separator))); err != nil {
		return nil, errors.Join(f.explain("write", p, err), t.close())
	}
	return t, nil
}

// close closes the folders below the granted one.
func (t *target) close() error {
	var errs []error
	for _, s := range t.opened[1:] {
		errs = append(errs, s.root.Close())
	}
	t.opened = t.opened[:1]
	return errors.Join(errs...)
}

func (t *target) dir() step { return t.opened[len(t.opened)-1] }

// follow opens the folders of a path. It follows links itself, to know where they lead.
func (t *target) follow(names []string) error {
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			if err := t.up(); err != nil {
				return err
			}
			continue
		case len(t.missing) > 0:
			t.missing = append(t.missing, name)
			continue
		}
		info, err := t.dir().root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			t.missing = append(t.missing, name)
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := t.dir().root.Readlink(name)
			if err != nil {
				return err
			}
			if links++; links > maxLinks {
				return errors.New("too many symbolic links")
			}
			if filepath.IsAbs(to) || filepath.VolumeName(to) != "" {
				return errEscapes
			}
			names = append(strings.Split(filepath.ToSlash(to), "/"), names...)
		case !info.IsDir():
			return errors.New("not a directory")
		default:
			if err := t.enter(name, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// up goes to the folder above, as ".." in a link does.
func (t *target) up() error {
	switch {
	case len(t.missing) > 0:
		return fs.ErrNotExist
	case len(t.opened) == 1:
		return errEscapes
	}
	last := t.dir()
	t.opened = t.opened[:len(t.opened)-1]
	return last.root.Close()
}

// enter opens a folder that was just seen. When another one is opened, something has been put in
// its place since.
func (t *target) enter(name string, seen fs.FileInfo) error {
	root, err := t.dir().root.OpenRoot(name)
	if err != nil {
		return err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, seen) {
		err = errChanged
	}
	if err != nil {
		return errors.Join(err, root.Close())
	}
	t.opened = append(t.opened, step{name, root, info})
	return nil
}

// path returns the names of the file's path from the granted folder on.
func (t *target) path() []string {
	var names []string
	for _, s := range t.opened[1:] {
		names = append(names, s.name)
	}
	return slices.Concat(names, t.missing, []string{t.base})
}

// show returns the path as it is shown, with where it leads when that is elsewhere.
func (t *target) show() string {
	real := strings.Join(t.path(), "/")
	if real == filepath.ToSlash(t.place.name) {
		return t.place.show
	}
	return t.place.show + " (" + real + ")"
}

// check refuses what windlass keeps for itself, and what is protected.
func (t *target) check(rules *protection.Rules) (protection.File, error) {
	file := protection.File{Above: t.place.folder.above(), Path: t.path()}
	for i := len(t.opened) - 1; i >= 0; i-- {
		if t.files.holdsPrivate(t.opened[i].info) {
			return file, &failure{kindNotAllowed, fmt.Errorf("%s is in a folder of windlass itself, which tools leave alone", t.place.show)}
		}
		if t.files.isGranted(t.opened[i].info) {
			break
		}
	}
	file.Bare = t.bare(file)
	return file, t.refused(rules.Check(file))
}

func (t *target) refused(err error) error {
	if err == nil {
		return nil
	}
	return &failure{kindNotAllowed, fmt.Errorf("write %s: %w", t.show(), err)}
}

// bare says for each name whether its folder is, or becomes with it, a bare repository.
func (t *target) bare(file protection.File) []bool {
	var out []bool
	for i, next := range slices.Concat(file.Above, file.Path) {
		below := i - len(file.Above)
		out = append(out, below < len(t.opened) && protection.IsBare(func(name string) bool {
			return t.has(below, name) || protection.SameName(name, next)
		}))
	}
	return out
}

// has says whether a folder of the path has a file: 0 is the granted one, less are above it.
func (t *target) has(below int, name string) bool {
	if below >= 0 {
		_, err := t.opened[below].root.Lstat(name)
		return err == nil
	}
	dir := t.place.folder.Real
	for range -below {
		dir = filepath.Dir(dir)
	}
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// write writes a text into the file as the rules allow it. verb says what it did. The caller has
// held writing since before it made the target.
func (t *target) write(rules *protection.Rules, text string, add bool) (verb string, err error) {
	file, err := t.check(rules)
	if err != nil {
		return "", err
	}
	old, err := t.look(add)
	if err != nil {
		return "", t.files.explain("write", t.place, err)
	}
	defer old.close()
	after := []byte(text)
	if add {
		after = append(slices.Clone(old.text), text...)
		if err := old.only(); err != nil {
			return "", &failure{kindNotAllowed, fmt.Errorf("write %s: %w", t.show(), err)}
		}
	}
	if err := t.refused(rules.CheckText(file, old.text, after)); err != nil {
		return "", err
	}
	if err := t.makeFolders(); err != nil {
		return "", t.files.explain("write", t.place, err)
	}
	if verb = "wrote"; add {
		verb, err = "added", t.add(old, text)
	} else {
		err = t.replace(text, old.info)
	}
	if err != nil {
		return "", t.files.explain("write", t.place, err)
	}
	return verb, nil
}

// existing is the file that is there before it is written.
type existing struct {
	file *os.File    // nil when there is none, or when it cannot be opened
	info fs.FileInfo // nil when there is none
	text []byte      // "" also when it is too long for a cascade
}

func (e *existing) close() {
	if e.file != nil {
		_ = e.file.Close() // what was written is closed where that can fail
	}
}

// only demands that the file has no other name, as what is added to it is in all of them.
func (e *existing) only() error {
	if e.file == nil {
		return nil
	}
	n, err := nameCount(e.file)
	if err != nil || n < 2 {
		return err
	}
	return fmt.Errorf("nothing is added to it, as the file has %d names (hard links), and another one may be outside the granted folders or "+
		"protected; write it as a whole, which gives this name a file of its own", n)
}

// look opens what is at the place so far, and reads enough of it to tell whether it is a cascade.
func (t *target) look(add bool) (*existing, error) {
	e := &existing{}
	if len(t.missing) > 0 {
		return e, nil
	}
	info, err := t.dir().root.Lstat(t.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link; write to the file that it leads to")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	e.info = info
	return e, t.open(e, add)
}

// open opens the file that was seen. One that may not be read is no cascade for windlass either.
func (t *target) open(e *existing, add bool) (err error) {
	readable, flags := true, os.O_RDONLY
	if add {
		flags = os.O_RDWR | os.O_APPEND
	}
	e.file, err = t.dir().root.OpenFile(t.base, flags|source.NonBlock, 0)
	if errors.Is(err, fs.ErrPermission) {
		if readable = false; !add {
			return nil
		}
		e.file, err = t.dir().root.OpenFile(t.base, os.O_WRONLY|os.O_APPEND|source.NonBlock, 0)
	}
	if err != nil {
		return err
	}
	opened, err := e.file.Stat()
	if err == nil && !os.SameFile(opened, e.info) {
		err = errChanged
	}
	if err == nil && readable && opened.Size() <= protection.MaxCascade {
		e.text, err = io.ReadAll(io.NewSectionReader(e.file, 0, protection.MaxCascade+1))
	}
	if err != nil {
		e.close()
	}
	return err
}

// makeFolders makes what is missing of the path and opens it.
func (t *target) makeFolders() error {
	for len(t.missing) > 0 {
		name := t.missing[0]
		if err := t.dir().root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := t.dir().root.Lstat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return errChanged
		}
		if err := t.enter(name, info); err != nil {
			return err
		}
		t.missing = t.missing[1:]
	}
	return nil
}

// add writes at the end of the file, so that others who write there lose nothing.
func (t *target) add(old *existing, text string) error {
	file := old.file
	if old.info == nil {
		var err error
		if file, err = t.dir().root.OpenFile(t.base, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, newFileMode); err != nil {
			return err
		}
	}
	old.file = nil
	_, err := file.WriteString(text)
	return errors.Join(err, file.Close())
}

// replace puts a new file, with the old one's mode, in its place in one step: nobody sees a part of
// it, and other names of the old one keep their text.
func (t *target) replace(text string, old fs.FileInfo) (err error) {
	dir := t.dir().root
	temp := ".windlass-" + rand.Text() + ".tmp"
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.Remove(temp))
		}
	}()
	_, err = file.WriteString(text)
	if err == nil && old != nil && old.Mode().Perm() != 0 {
		err = file.Chmod(old.Mode().Perm())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return dir.Rename(temp, t.base)
}
