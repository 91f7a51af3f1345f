/// A generator of names of places in a script, each with its ASCII form.
struct PlaceNames {
  enum Script: CaseIterable {
    case latin, western, eastern, turkic, cyrillic, greek, arabic, han, latinAgain, kana, hangul
    case thai
  }

  let script: Script

  /// Pairs of a syllable and its ASCII form.
  private var syllables: [(String, String)] {
    switch script {
    case .latin, .latinAgain: Self.latin
    case .western: Self.western
    case .eastern: Self.eastern
    case .turkic: Self.turkic
    case .cyrillic: Self.cyrillic
    case .greek: Self.greek
    case .arabic: Self.arabic
    case .han: Self.han
    case .kana: Self.kana
    case .hangul: Self.hangul
    case .thai: Self.thai
    }
  }

  /// Returns a name of one to three words.
  func make(_ random: inout SplitMix) -> (name: String, ascii: String) {
    let syllables = syllables
    var (name, ascii) = ("", "")
    let wordCount = [1, 1, 1, 1, 2, 2, 3][random.below(7)]
    for word in 0..<wordCount {
      if word > 0 {
        name += " "
        ascii += " "
      }
      var (own, plain) = ("", "")
      for _ in 0..<(2 + random.below(3)) {
        let syllable = syllables[random.below(syllables.count)]
        own += syllable.0
        plain += syllable.1
      }
      name += own.prefix(1).uppercased() + own.dropFirst()
      ascii += plain.prefix(1).uppercased() + plain.dropFirst()
    }
    return (name, ascii)
  }

  private static let latin = pairs(
    "san ta ville ton ham burg ford new port lake wood hill mar ro del el bel la co ra no vi ter"
      + " mon char les dan by holm stead field ches wick bo gan tu ka ri mi sa lo")
  private static let western = pairs(
    "são=sao ção=cao né=ne ñe=ne ía=ia sán=san mün=mun köl=kol böl=bol straß=strass ô=o çais=cais"
      + " rio ville mont berg heim dorf Saint-=Saint- château=chateau über=uber ål=al ø=o æ=ae val")
  private static let eastern = pairs(
    "ów=ow łó=lo dź=dz ński=nski cz ková=kova brá=bra šť=st ře=re žď=zd sze győr=gyor őr=or ű=u"
      + " ăr=ar ești=esti țа=ta nov grad pol sk mice")
  private static let turkic = pairs(
    "köy=koy ğaz=gaz ış=is ıl=il şeh=seh çay=cay öz=oz ü=u dağ=dag bul kara hisar ova yeni kent")
  private static let cyrillic = pairs(
    "нов=nov град=grad ск=sk во=vo ка=ka бел=bel мос=mos пет=pet ро=ro ко=ko ни=ni ма=ma ла=la"
      + " крас=kras ный=ny бор=bor озер=ozer ье=ye щи=shchi й=y ё=yo")
  private static let greek = pairs(
    "αθ=ath ήνα=ina θεσ=thes σα=sa λο=lo νί=ni κη=ki πά=pa τρα=tra χα=cha νιά=nia ρό=ro δος=dos")
  private static let arabic = pairs(
    "ال=al مد=mad ين=in ة=a قا=qa هر=hir بغ=bagh دا=da د=d بي=bi رو=ru ت=t حل=hal ب=b")
  private static let han = pairs(
    "北=bei 京=jing 上=shang 海=hai 广=guang 州=zhou 天=tian 津=jin 南=nan 山=shan 河=he 西=xi 安=an 城=cheng")
  private static let kana = pairs(
    "東=to 京=kyo 大=o 阪=saka さ=sa い=i た=ta ま=ma ナ=na ゴ=go ヤ=ya 川=kawa 島=shima 町=machi")
  private static let hangul = pairs(
    "서=seo 울=ul 부=bu 산=san 인=in 천=cheon 대=dae 구=gu 전=jeon 광=gwang 주=ju 수=su 원=won")
  private static let thai = pairs(
    "กรุง=krung เทพ=thep เชียง=chiang ใหม่=mai นคร=nakhon บุรี=buri หาด=hat ใหญ่=yai ภู=phu เก็ต=ket")

  private static func pairs(_ text: String) -> [(String, String)] {
    text.split(separator: " ").map { word in
      let forms = word.split(separator: "=").map(String.init)
      return (forms[0], forms[forms.count - 1])
    }
  }
}
