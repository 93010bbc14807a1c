package adapters

import (
	"reflect"
	"runtime"
	"strings"
)

// LinkedVersion is the version of the module that fn, a function of a client
// library, was compiled from: "v9.23.0", or "devel" where the module was
// replaced by a folder or vendored.
//
// Note: it reads the path of the source file, which carries module@version
// with and without -trimpath. debug.ReadBuildInfo would be the usual way, but
// a test binary has no dependencies in it, and go.mod says what should have
// been linked and not what was.
func LinkedVersion(fn any) string {
	f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
	if f == nil {
		return "devel"
	}
	file, _ := f.FileLine(f.Entry())
	_, after, ok := strings.Cut(file, "@")
	if !ok {
		return "devel"
	}
	version, _, _ := strings.Cut(after, "/")
	return version
}
