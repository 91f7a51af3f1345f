import ArborModel
import ArborStore
import Foundation
import LMDB

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// damage-reader <sound file> <older file> <work file> <seed> <first> <end>
//   full|quick|reading|writing|forged|sound [<sound file> …]
//
// Damages copies of a sound file, or forges an entry in each, and uses each as a program would. For
// forgeries the second file is another sound one, and the files after the mode are further ones,
// forged in turn; `sound` uses all of them unchanged.
// `full` and `quick` read all entries after that verification; `reading` and `writing` use objects
// of a store that is opened as usual.
// Prints each case before it runs, so that the test that started this program knows which case it
// died on, and its outcome afterwards:
//
//   case <number> <kind> <position>
//   <number> error|problem|same|WRONG, or refused|found|passed for a forgery
//
// For `reading` and `writing`, the outcome is followed by whether a scrub of the damaged copy found
// or missed the damage.

let arguments = CommandLine.arguments
guard arguments.count >= 8, let seed = UInt64(arguments[4]), let first = Int(arguments[5]),
  let end = Int(arguments[6])
else {
  FileHandle.standardError.write(Data("damage-reader: see the head of its main.swift\n".utf8))
  exit(2)
}
let sound = try [UInt8](Data(contentsOf: URL(filePath: arguments[1])))
let work = arguments[3]
/// The files to forge.
let originalPaths = [arguments[1], arguments[2]] + arguments[8...]

/// Writes a line without buffering, so that it is printed even if the process dies right after.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Replaces the contents of the work file.
@MainActor func put(_ bytes: [UInt8]) throws {
  unlink(work + "-lock")
  try Data(bytes).write(to: URL(filePath: work))
}

/// Kills this process with a signal after `seconds` of processor time or 30 times as many of
/// wall-clock time, so that an infinite loop counts as a crash and a busy machine does not. 0
/// cancels the limit.
func limitTime(_ seconds: Int) {
  var limit = itimerval()
  limit.it_value.tv_sec = seconds
  #if canImport(Glibc)
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &limit, nil)
  #else
    setitimer(ITIMER_PROF, &limit, nil)
  #endif
  alarm(UInt32(30 * seconds))
}

@MainActor func damage() throws {
  let older = try [UInt8](Data(contentsOf: URL(filePath: arguments[2])))
  let isChecked = arguments[7] == "full"
  try put(sound)
  let expected = try Reading.digest(work, isChecked: true)
  for number in first..<end {
    let damage = Damage(number, seed: seed, sound: sound, older: older)
    say("case \(number) \(damage.kind.rawValue) \(damage.position)")
    try put(damage.bytes)
    limitTime(10)
    do {
      let digest = try Reading.digest(work, isChecked: isChecked)
      say("\(number) \(digest == nil ? "problem" : digest == expected ? "same" : "WRONG")")
    } catch {
      say("\(number) error")
    }
    limitTime(0)
  }
}

/// Reads or changes damaged copies the way a program does that opens them as usual.
@MainActor func useDamaged(_ use: (String) throws -> DamagedStore) throws {
  let older = try [UInt8](Data(contentsOf: URL(filePath: arguments[2])))
  try put(sound)
  let expected = try use(work)
  for failure in [expected.failure].compactMap(\.self) + expected.brokenRules {
    FileHandle.standardError.write(Data("damage-reader: the sound store fails: \(failure)\n".utf8))
  }
  guard expected.failure == nil, expected.brokenRules.isEmpty else { exit(2) }
  guard try !DamagedStore.isFoundByScrub(work) else {
    FileHandle.standardError.write(Data("damage-reader: the scrub refuses a sound store\n".utf8))
    exit(2)
  }
  for number in first..<end {
    let damage = Damage(number, seed: seed, sound: sound, older: older)
    say("case \(number) \(damage.kind.rawValue) \(damage.position)")
    try put(damage.bytes)
    limitTime(20)
    let result: String
    do {
      let found = try use(work)
      result =
        found.failure != nil ? "problem" : found.digest == expected.digest ? "same" : "WRONG"
    } catch {
      result = "error"
    }
    // Scrub the original damage, since using the copy may have changed it.
    try put(damage.bytes)
    let isFound = (try? DamagedStore.isFoundByScrub(work)) ?? true
    say("\(number) \(result) \(isFound ? "found" : "missed")")
    limitTime(0)
  }
}

/// A sound store, with what is needed to forge it.
struct Original {
  let bytes: [UInt8]
  let databases: [(name: String, flags: DatabaseFlags)]
  let entities: [String: UInt16]

  @MainActor init(_ path: String) throws {
    bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    try put(bytes)
    var opening = StoreOpening(.file(work), model: nil)
    opening.indexBuilds = .left
    let store = try StoreEngine.open(opening)
    defer { store.close() }
    databases = StoreDatabases.list(store.schema)
    entities = Dictionary(
      uniqueKeysWithValues: store.schema.entities.map {
        (StoreFormat.recordDatabase(store.schema.storedName(of: $0)), $0.number)
      })
  }
}

@MainActor func forge() throws {
  let originals = try originalPaths.map(Original.init)
  for number in first..<end {
    let original = originals[number / 3 % originals.count]
    try put(original.bytes)
    var forgery = Forgery(number, seed: seed)
    // A forgery that the storage engine rejects leaves the file as it was.
    try? forgery.forge(work, original.databases, original.entities)
    say("case \(number) \(forgery.description)")
    limitTime(20)
    let choice = SplitMix(state: seed &+ UInt64(number))
    let result =
      switch number % 3 {
      case 0: ForgedStore.useQuickly(work)
      case 1: ForgedStore.useVerified(work)
      default: ForgedStore.useUnverified(work, asking: choice)
      }
    say("\(number) \(result.rawValue)")
    limitTime(0)
  }
}

/// Prints the outcomes for unmodified stores.
@MainActor func useSound() throws {
  for path in originalPaths {
    let original = try Original(path)
    try put(original.bytes)
    say("sound \(ForgedStore.useQuickly(work).rawValue)")
    try put(original.bytes)
    say("sound \(ForgedStore.useVerified(work).rawValue)")
    try put(original.bytes)
    say("sound \(ForgedStore.useUnverified(work, asking: nil).rawValue)")
  }
}

switch arguments[7] {
case "reading": try useDamaged(DamagedStore.read)
case "writing": try useDamaged(DamagedStore.change)
case "forged": try forge()
case "sound": try useSound()
default: try damage()
}
