import ArborStore
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// damage-reader <sound file> <older file> <work file> <seed> <first> <end> full|quick
//
// Damages copies of a sound file and reads each as a program would. Before each case it says which
// one it is, so that whoever started it knows on which it died; afterwards what came of it:
//
//   case <number> <kind> <place>
//   <number> error|problem|same|WRONG

let arguments = CommandLine.arguments
guard arguments.count == 8, let seed = UInt64(arguments[4]), let first = Int(arguments[5]),
  let end = Int(arguments[6])
else {
  FileHandle.standardError.write(Data("damage-reader: see the head of its main.swift\n".utf8))
  exit(2)
}
let sound = try [UInt8](Data(contentsOf: URL(filePath: arguments[1])))
let older = try [UInt8](Data(contentsOf: URL(filePath: arguments[2])))
let work = arguments[3]
let verification: StoreOpening.Verification = arguments[7] == "full" ? .full : .quick
try Data(sound).write(to: URL(filePath: work))
let expected = try Reading.digest(work, verification: .full)
/// Unbuffered: whoever dies has said on what.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
for number in first..<end {
  let damage = Damage(number, seed: seed, sound: sound, older: older)
  say("case \(number) \(damage.kind.rawValue) \(damage.place)")
  unlink(work + "-lock")
  try Data(damage.bytes).write(to: URL(filePath: work))
  // A loop is as bad as a death.
  alarm(10)
  do {
    let digest = try Reading.digest(work, verification: verification)
    say("\(number) \(digest == nil ? "problem" : digest == expected ? "same" : "WRONG")")
  } catch {
    say("\(number) error")
  }
  alarm(0)
}
