package memory

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// PathOf returns the path that a person means: one that does not begin with a slash is below Root.
func PathOf(given string) (string, error) {
	if !strings.HasPrefix(given, "/") {
		given = Root + "/" + given
	}
	path, problem := cleanPath(given)
	if problem != "" {
		return "", errors.New(strings.TrimPrefix(problem, "Error: "))
	}
	return path, nil
}

// CheckFile says what is wrong with a file that comes from elsewhere: its path, or its text; "" when nothing is.
func CheckFile(path, text string) (problem string) {
	clean, problem := cleanPath(path)
	switch {
	case problem != "":
		return problem
	case clean != path || path == Root:
		return "Error: " + visible(path) + " is the path of a folder"
	}
	return Files{}.unfit(path, text)
}

// Check says why files cannot be in one bank together; "" when they can.
func (f Files) Check() (problem string) {
	paths := slices.Sorted(maps.Keys(f))
	if len(paths) == 0 {
		return ""
	}
	if problem := f.unfit(paths[0], f[paths[0]]); problem != "" { // which counts all of them
		return problem
	}
	for _, path := range paths {
		for folder := range folders(path) {
			if f.isFile(folder) {
				return f.noPlace(path)
			}
		}
	}
	return ""
}

// Put is a person's command: it gives a file a new text, whether the file is there or not.
func (f Files) Put(path, text string) Result {
	path, problem := cleanPath(path)
	switch {
	case problem != "":
		return failed(problem)
	case f.isFile(path):
		return f.written(path, text, "")
	}
	return f.create(&Command{FileText: text}, path)
}
