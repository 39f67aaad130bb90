"""4000 hours of a bakery, as the guide watches and explains them: `python3 docs/bakery.py > bakery.csv`.

From row 2600 on the oven is 4 degrees hotter, its reading in row 1901 is wrong, and from row 3301 on warm hours sell
less instead of more.
"""

import datetime
import math
import random

SHOPS = {"market": 6.0, "mill": -4.0, "station": 0.0}

draw = random.Random(7)
begin = datetime.datetime(2024, 1, 1)
print("day,shop,temperature,price,oven,sold")
weather = 0.0
for row in range(1, 4001):
    weather = 0.8 * weather + draw.gauss(0.0, 1.2)
    temperature = 12.0 + 4.0 * math.sin(2.0 * math.pi * row / 24.0) + weather
    price = 2.5 + draw.gauss(0.0, 0.1)
    oven = 230.0 + draw.gauss(0.0, 2.0) + (4.0 if row >= 2600 else 0.0)
    if row == 1901:
        oven = 305.0
    shop = draw.choice(sorted(SHOPS))
    warmth = 0.8 * (temperature - 12.0) * (1.0 if row < 3301 else -1.0)
    sold = 50.0 + SHOPS[shop] + warmth - 15.0 * (price - 2.5) + draw.gauss(0.0, 2.0)
    day = (begin + datetime.timedelta(hours=row - 1)).isoformat()
    print(f"{day},{shop},{temperature:.1f},{price:.2f},{oven:.1f},{sold:.0f}")
