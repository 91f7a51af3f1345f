/// The properties, either attributes or relationships, that existing objects gain and lose,
/// including through changes of the entity hierarchy.
struct PropertyFlow {
  /// The properties of the newer model that have no value in some objects.
  private(set) var gained: Set<PropertySlot> = []
  /// The properties of the older model whose values are lost for some objects.
  private(set) var lost: Set<PropertySlot> = []
  /// For each entity of the newer model, the newly inherited properties that other objects already
  /// had.
  private(set) var inherited: [Int: [PropertySlot]] = [:]
  /// For each entity of the newer model, the properties that it no longer inherits, but that other
  /// objects keep.
  private(set) var disinherited: [Int: [PropertySlot]] = [:]
  private var notedAbove: Set<Note> = []

  private struct Note: Hashable {
    let entity: Int
    let slot: PropertySlot
    let isGain: Bool
  }

  init(
    _ pairing: PropertyPairing, _ entities: EntityPairing,
    _ relatives: [EntityPairing.Relatives], _ old: EntityTree, _ new: EntityTree
  ) {
    let loose = LooseProperties(pairing)
    var reached: [Int: Set<PropertySlot>] = [:]
    var byOld: [Int: EntityPairing.Relatives] = [:]
    for pair in relatives {
      byOld[pair.old] = pair
      let hasObjects = !old.entities[pair.old].isAbstract
      for slot in loose.new(pair, entities) {
        if let source = pairing.source(of: slot, for: pair, entities) {
          reached[pair.old, default: []].insert(source)
        } else if pairing.partner(ofNew: slot, entities) == nil {
          if hasObjects { gained.insert(slot) }
        } else if isNews(Note(entity: pair.new, slot: slot, isGain: true), new.parents) {
          inherited[pair.new, default: []].append(slot)
        }
      }
    }
    for pair in old.topDown.compactMap({ byOld[$0] }) {
      let hasObjects = !old.entities[pair.old].isAbstract
      let kept = reached[pair.old] ?? []
      for slot in loose.old(pair, entities) where !kept.contains(slot) {
        if pairing.partner(ofOld: slot, entities) == nil {
          if hasObjects { lost.insert(slot) }
        } else if isNews(Note(entity: pair.old, slot: slot, isGain: false), old.parents) {
          disinherited[pair.new, default: []].append(slot)
        }
      }
    }
  }

  /// Records a note, and returns whether it is new: `false` if it was already recorded for the
  /// parent, from which the entity inherits the property.
  private mutating func isNews(_ note: Note, _ parents: [Int?]) -> Bool {
    notedAbove.insert(note)
    guard let parent = parents[note.entity] else { return true }
    return !notedAbove.contains(Note(entity: parent, slot: note.slot, isGain: note.isGain))
  }
}
