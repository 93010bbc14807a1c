//go:build unix && !linux

package child

import "os/exec"

// EndsWithParent tells whether EndWithParent has an effect on this system. It
// has none here: no signal tells a process of its parent's death.
const EndsWithParent = false

// EndWithParent does nothing on this system.
func EndWithParent(*exec.Cmd) {}
