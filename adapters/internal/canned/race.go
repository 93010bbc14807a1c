//go:build race

package canned

const raceDetector = true
